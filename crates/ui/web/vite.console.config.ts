// Build of the console: separate files for styles and scripts, because the server's content policy allows nothing
// inline.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { licenses } from "./licenses.ts";

export default defineConfig({
  root: "console",
  // `tree`: elements are created one by one, without innerHTML.
  plugins: [svelte({ compilerOptions: { fragments: "tree" }, configFile: false })],
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        postBanner: (chunk) => (chunk.isEntry ? licenses({ svelte: "LICENSE.md", uplot: "LICENSE" }) : ""),
      },
    },
  },
});
