// Tests of the scripts. Style sheets are read unchanged, because their palettes are tested, too.
import { defineConfig } from "vitest/config";

export default defineConfig({ test: { css: true } });
