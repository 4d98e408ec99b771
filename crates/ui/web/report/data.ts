// What a page carries for its script: JSON, packed, in an element that no browser runs.

import type { PageData } from "../shared/chart";

/** The only form that this script reads. */
const VERSION = 1;

/** Reads the block; `null` where a page has none, or one of another version. */
export async function pageData(): Promise<PageData | null> {
  const text = document.getElementById("page-data")?.textContent?.trim();
  if (!text) return null;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = (await new Response(unpacked).json()) as PageData;
  return data.version === VERSION ? data : null;
}
