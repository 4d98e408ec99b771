// How the report's script is made: one classic script that can stand inside a page.

import { defineConfig } from "vite";
import { licences } from "./licences.ts";

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
        // Behind the minifier, which would drop it.
        postBanner: licences({ uplot: "LICENSE" }),
      },
    },
  },
});
