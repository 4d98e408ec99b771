// How the scripts are tested: style sheets are read as they are, because the palettes in them are tested too.
import { defineConfig } from "vitest/config";

export default defineConfig({ test: { css: true } });
