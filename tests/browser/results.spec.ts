// Every page that the tool writes: quiet, small, readable at any width, by anybody, also without its script.
import { expect, test } from '@playwright/test';
import { statSync } from 'node:fs';
import { differences, broken } from './agree';
import { MADE } from './results';
import { at, document, page as address, pageData } from './tool';
import { accessible, fits, legible, quiet, watch } from './watching';

// Each test opens its own page of what was made before all of them.
test.describe.configure({ mode: 'parallel' });

const RUNS = ['shop', 'a', 'b', ...MADE];
const ALL = [...RUNS, 'sweep', 'search', 'compare', 'long_names', 'long_name', 'audit'];
const WIDTHS = [400, 800, 1280, 2560];

for (const name of ALL) {
  test(`${name}: asks nobody, says nothing, fits every width, is accessible in light and dark`, async ({ page }) => {
    const watched = watch(page, [address(`${name}.html`)]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(address(`${name}.html`));
    await expect(page.locator('h1')).toHaveCount(1);
    await expect(page.locator('html')).toHaveAttribute('data-script', 'ready');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await fits(page);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await accessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await legible(page);
    quiet(watched);
  });

  test(`${name}: below 600 kB`, () => {
    expect(statSync(at(`${name}.html`)).size).toBeLessThan(600_000);
  });
}

test.describe('without its script', () => {
  test.use({ javaScriptEnabled: false });
  for (const name of ALL) {
    test(`${name}: pictures and tables are there`, async ({ page }) => {
      const watched = watch(page, [address(`${name}.html`)]);
      await page.goto(address(`${name}.html`));
      await expect(page.locator('h1')).toBeVisible();
      for (const figure of await page.locator('figure.chart').all()) {
        await expect(figure.locator('svg').first()).toBeVisible();
        await expect(figure.locator('details table').first()).toBeAttached();
      }
      await fits(page);
      quiet(watched);
    });
  }
});

test('the timeline of a page holds what --json says, second by second', async () => {
  for (const run of ['shop', 'a', 'b']) {
    const data = await pageData(`${run}.html`);
    expect(differences(data['charts'], document(at(`${run}.plim`)))).toEqual([]);
  }
});

test('a broken number, swapped series and a dropped interval are seen', async () => {
  const data = await pageData('shop.html');
  const told = document(at('shop.plim'));
  for (const how of ['number', 'swap', 'drop'] as const) {
    expect(differences(broken(data['charts'], how), told), how).not.toEqual([]);
  }
});

test('the document in a page is that of --json', async () => {
  for (const run of ['shop', 'a', 'all_errors', 'hostile', 'two_machines', 'streams']) {
    const data = await pageData(`${run}.html`);
    expect(data['document']).toEqual(document(at(`${run}.plim`)));
  }
});
