// How the browser tests run: two at a time (nothing in them is timed closely), in the distribution's Chromium, which must
// ask nobody for anything.
import { defineConfig } from '@playwright/test';

const chromium = process.env['PLIMSOLL_CHROMIUM'];
if (!chromium) {
  throw new Error('PLIMSOLL_CHROMIUM names no browser; these tests are started by `cargo xtask browser`');
}

export default defineConfig({
  testDir: '.',
  outputDir: `${process.env['PLIMSOLL_BROWSER_FOLDER']}/failures`,
  globalSetup: './results.ts',
  workers: 2,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 900 },
    launchOptions: {
      executablePath: chromium,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
