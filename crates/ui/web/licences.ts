// Licences of what goes into the bundles: they ask to go along with every copy, and bundlers drop comments.

import { readFileSync } from "node:fs";

/** A comment with the licences of these packages, with the same bytes wherever it is made. */
export function licences(packages: Readonly<Record<string, string>>): string {
  const texts = Object.entries(packages).map(([name, file]) => {
    const text = readFileSync(new URL(`node_modules/${name}/${file}`, import.meta.url), "utf8");
    return `Made with ${name}:\n${text.replace(/\r\n/g, "\n").replaceAll("*/", "* /").trim()}\n`;
  });
  return `/*! ${texts.join("\n")}*/`;
}
