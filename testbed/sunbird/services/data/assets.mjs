// The static files of the blob store: 64 of them, 2 to 200 KB, the smaller ones the more frequent.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { draws } from "./random.mjs";

const FILES = 64;
const LEAST_BYTES = 2_000;
const MOST_BYTES = 200_000;

export function writeAssets(folder) {
  mkdirSync(join(folder, "assets"), { recursive: true });
  const random = draws("assets");
  for (let at = 1; at <= FILES; at += 1) {
    // Evenly spread on the logarithmic scale, as sizes of files are.
    const bytes = Math.round(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** ((at - 1) / (FILES - 1)));
    writeFileSync(join(folder, "assets", `${at}.bin`), Buffer.alloc(bytes, random.hex(4096), "hex"));
  }
}
