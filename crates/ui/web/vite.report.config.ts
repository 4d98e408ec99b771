// How the report's script is made: one classic script that can stand inside a page, with the licence of what it holds.

import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The licence asks to go along with every copy; a comment that begins with `!` survives minifying.
const licence = readFileSync("node_modules/uplot/LICENSE", "utf8").trim().replace(/\r?\n/g, "\n");

export default defineConfig({
  logLevel: "warn",
  publicDir: false,
  build: {
    outDir: "dist/report",
    target: "es2022",
    minify: true,
    modulePreload: false,
    rolldownOptions: {
      input: "report/main.ts",
      output: {
        format: "iife",
        entryFileNames: "report.js",
        postBanner: `/*! Draws with uPlot:\n${licence}\n*/`,
      },
    },
  },
});
