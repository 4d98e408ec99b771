// Licenses of bundled packages, which must accompany every copy although bundlers drop comments.

import { readFileSync } from "node:fs";

/** Returns a comment with the licenses of these packages, with the same bytes on every machine. */
export function licenses(packages: Readonly<Record<string, string>>): string {
  const texts = Object.entries(packages).map(([name, file]) => {
    const text = readFileSync(new URL(`node_modules/${name}/${file}`, import.meta.url), "utf8");
    return `Made with ${name}:\n${text.replace(/\r\n/g, "\n").replaceAll("*/", "* /").trim()}\n`;
  });
  return `/*! ${texts.join("\n")}*/`;
}
