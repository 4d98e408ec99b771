// Pictures of every section of every kind of page, to be looked at: `cargo xtask browser --shots` writes them below
// target/browser/shots. Nothing is compared: eyes judge.
import { test } from '@playwright/test';
import { mkdirSync } from 'node:fs';
import { MADE } from './results';
import { at, page as address } from './tool';

const PAGES = ['shop', 'a', 'sweep', 'search', 'compare', 'audit', ...MADE];

for (const name of PAGES) {
  for (const scheme of ['light', 'dark'] as const) {
    test(`${name}, ${scheme}`, async ({ page }) => {
      mkdirSync(at(`shots/${name}`), { recursive: true });
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(address(`${name}.html`));
      await page.locator('html[data-script="ready"]').waitFor();
      await page.screenshot({ path: at(`shots/${name}/${scheme}.png`), fullPage: true });
      if (scheme === 'dark') return;
      for (const section of await page.locator('section[id]').all()) {
        const id = await section.getAttribute('id');
        await section.screenshot({ path: at(`shots/${name}/section-${id}.png`) });
      }
      await page.setViewportSize({ width: 400, height: 800 });
      await page.screenshot({ path: at(`shots/${name}/narrow.png`), fullPage: true });
      await page.setViewportSize({ width: 2560, height: 1300 });
      await page.screenshot({ path: at(`shots/${name}/wide.png`) });
      await page.setViewportSize({ width: 1000, height: 1300 });
      await page.emulateMedia({ media: 'print' });
      await page.screenshot({ path: at(`shots/${name}/print.png`), fullPage: true });
    });
  }
}
