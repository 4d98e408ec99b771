// Data of a page for its script: compressed JSON in an element that browsers do not execute.

import type { PageData } from "../shared/chart";

/** The only version that this script reads. */
const VERSION = 1;

/** Reads the data; returns `null` if the page has none, or another version. */
export async function pageData(): Promise<PageData | null> {
  const text = document.getElementById("page-data")?.textContent?.trim();
  if (!text) return null;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = (await new Response(unpacked).json()) as PageData;
  return data.version === VERSION ? data : null;
}
