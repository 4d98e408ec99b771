// Build of the report's script: one classic script that can be embedded in a page.

import { defineConfig } from "vite";
import { licenses } from "./licenses.ts";

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
        // After the minifier, which would drop it.
        postBanner: licenses({ uplot: "LICENSE" }),
      },
    },
  },
});
