// A page in the hands of its reader: pointing, zooming, sorting, filtering, copying, saving, linking, printing.
import { expect, test, type Locator, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { at, document as told, page as address } from './tool';
import { quiet, watch } from './watching';

// Each test opens its own page of what was made before all of them.
test.describe.configure({ mode: 'parallel' });

async function open(page: Page, name: string, hash = ''): Promise<void> {
  await page.goto(address(`${name}.html`) + hash);
  await expect(page.locator('html')).toHaveAttribute('data-script', 'ready');
}

function chart(page: Page, id: string): Locator {
  return page.locator(`#chart-${id} .pl-chart`);
}

/** Where it is on the screen, which it must be on for a pointer. */
async function place(locator: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  await locator.evaluate((element) => element.scrollIntoView({ block: 'center', behavior: 'instant' }));
  return (await locator.boundingBox())!;
}

const UNITS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  '/s': 1,
  'k/s': 1e3,
};

/** `8.14 ms` is anything from 8.135 to 8.145 ms; in base units. */
function meant(text: string): [number, number] {
  const parts = /^([\d,.]+)\s*(ns|us|ms|s|min|\/s)?$/.exec(text.trim());
  if (!parts) throw new Error(`no figure: \`${text}\``);
  const digits = parts[1]!.replaceAll(',', '');
  const unit = UNITS[parts[2] ?? ''] ?? 1;
  const decimals = digits.includes('.') ? digits.length - digits.indexOf('.') - 1 : 0;
  const half = (0.5 * unit) / 10 ** decimals;
  // Three digits, so that 1,230 stands for 1,225 to 1,235.
  const whole = digits.replace(/^0+/, '').replace('.', '');
  const slack = decimals === 0 && whole.length > 3 ? half * 10 ** (whole.length - 3) : half;
  const value = Number(digits) * unit;
  return [value - slack * 1.0001, value + slack * 1.0001];
}

test('what the cursor says is what --json says, at every second', async ({ page }) => {
  const document = told(at('shop.plim'));
  const seconds: Record<string, any>[] = document['timeline'];
  await open(page, 'shop');
  const timeline = chart(page, 'timeline');
  await timeline.focus();
  await page.keyboard.press('Home');
  const other: Record<string, string> = { p95: 'p99', p99: 'p95' };
  let compared = 0;
  for (const second of seconds) {
    const said = (await timeline.locator('.pl-said').textContent())!;
    for (const [name, field] of [
      ['achieved', 'achieved_rate_per_s'],
      ['p50', 'p50_ns'],
      ['p95', 'p95_ns'],
      ['p99', 'p99_ns'],
    ] as const) {
      // Behind a comma or the instant: `schedule lag p99` is another figure.
      const text = new RegExp(`[,:] ${name} ([\\d,.]*\\d ?[a-z/]*)`).exec(said)?.[1];
      // Of p95 and p99 one is drawn: the higher of those that nearly all seconds have the samples for.
      const isDrawn = !(name in other) || !new RegExp(`[,:] ${other[name]} `).test(said);
      if (!isDrawn || second[field] === null || second['few_samples'].includes(field)) continue;
      expect(text, `${name} in \`${said}\``).toBeDefined();
      const [low, high] = meant(text!.replace(/ requests/, ''));
      expect(second[field], `${name} in \`${said}\``).toBeGreaterThanOrEqual(low);
      expect(second[field], `${name} in \`${said}\``).toBeLessThanOrEqual(high);
      compared += 1;
    }
    await page.keyboard.press('ArrowRight');
  }
  expect(compared).toBeGreaterThan(seconds.length * 2);
});

test('a pointer on one chart of the run moves the cursor of the others', async ({ page }) => {
  const watched = watch(page, [address('shop.html')]);
  await open(page, 'shop');
  const box = await place(chart(page, 'timeline').locator('.u-over').first());
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const tip = page.locator('#chart-timeline .pl-tip');
  await expect(tip).toBeVisible();
  await expect(tip.locator('table')).toContainText('p99');
  const heat = chart(page, 'heat').locator('.pl-said');
  await expect(chart(page, 'timeline').locator('.u-cursor-x').first()).toBeAttached();
  await expect(heat).toBeAttached();
  quiet(watched);
});

test('a stretch is chosen by dragging, stands in the address, and goes with Escape', async ({ page }) => {
  await open(page, 'shop');
  const box = await place(chart(page, 'timeline').locator('.u-over').first());
  await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => page.url()).toMatch(/#t=[\d.]+-[\d.]+/);
  const chosen = page.url();
  // Steps that follow each other at once are one step back: a turn of a wheel is many.
  const now = (): Promise<number> => page.evaluate(() => performance.now());
  const then = await now();
  await expect.poll(now).toBeGreaterThan(then + 800);
  await chart(page, 'timeline').focus();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).not.toMatch(/#t=/);
  await page.goBack();
  await expect.poll(() => page.url()).toBe(chosen);
});

test('a link to a stretch opens with it', async ({ page }) => {
  await open(page, 'shop', '#t=2-4');
  const timeline = chart(page, 'timeline');
  await timeline.focus();
  await page.keyboard.press('Home');
  // The first step inside of the stretch, not that of the run.
  const said = await timeline.locator('.pl-said').textContent();
  expect(said).toBeTruthy();
  const download = page.waitForEvent('download');
  await page.locator('#chart-timeline .tools button', { hasText: 'CSV' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8').trim().split('\n');
  const first = csv.slice(1).map((line) => Number(line.split(',')[0]));
  expect(Math.min(...first)).toBeGreaterThanOrEqual(1.5);
  expect(Math.max(...first)).toBeLessThanOrEqual(4.5);
});

test('plus zooms, the wheel zooms with ctrl only', async ({ page }) => {
  await open(page, 'shop');
  await chart(page, 'timeline').focus();
  await page.keyboard.press('+');
  await expect.poll(() => page.url()).toMatch(/#t=/);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).not.toMatch(/#t=/);
  const box = await place(chart(page, 'timeline').locator('.u-over').first());
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await expect.poll(() => page.url()).toMatch(/#t=/);
});

test('requests are sorted by a head and found by a word', async ({ page }) => {
  await open(page, 'many_requests');
  const table = page.locator('table#table-requests');
  const rows = table.locator('tbody tr:not([data-out])');
  const all = await rows.count();
  expect(all).toBeGreaterThan(150);
  const heads = await table.locator('thead th').allTextContents();
  const column = heads.findIndex((head) => head.trim() === 'p99');
  await table.locator('thead th', { hasText: /^\s*p99\s*$/ }).getByRole('button').click();
  const values = async (): Promise<number[]> =>
    table.locator('tbody tr').evaluateAll(
      (all, at) =>
        all
          .filter((row) => !row.hasAttribute('data-parent'))
          .map((row) => (row as HTMLTableRowElement).cells[at]!.dataset['v'])
          .filter((v): v is string => v !== undefined)
          .map(Number),
      column,
    );
  const falling = await values();
  expect(falling).toEqual([...falling].sort((a, b) => b - a));
  await table.locator('thead th', { hasText: /^\s*p99\s*$/ }).getByRole('button').click();
  const rising = await values();
  expect(rising).toEqual([...rising].sort((a, b) => a - b));
  const filter = page.getByRole('searchbox', { name: /Requests/ });
  const name = (await rows.nth(7).locator('th, td').first().textContent())!.trim();
  await filter.fill(name);
  await expect.poll(() => rows.count()).toBeLessThan(all);
  for (const row of (await rows.all()).slice(0, 10)) {
    // Rows above what was found stay, so that a tree stays one.
    expect((await row.textContent())!.length).toBeGreaterThan(0);
  }
  await filter.fill('no request has such a name');
  await expect(rows).toHaveCount(0);
});

test('every chart is saved as SVG, PNG and CSV', async ({ page }) => {
  await open(page, 'shop');
  const figures = await page.locator('figure.chart').all();
  expect(figures.length).toBeGreaterThan(4);
  for (const figure of figures) {
    for (const [word, begin] of [
      ['SVG', '<svg'],
      ['PNG', '\u0089PNG'],
      ['CSV', ''],
    ] as const) {
      const download = page.waitForEvent('download');
      await figure.locator('.tools button', { hasText: word }).click();
      const bytes = readFileSync(await (await download).path());
      expect(bytes.subarray(0, 4).toString('latin1').startsWith(begin), `${word}: ${bytes.subarray(0, 20)}`).toBe(true);
      expect(bytes.length).toBeGreaterThan(40);
    }
  }
});

test('figures are copied by a click', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, 'shop');
  const figure = page.locator('.figure').first();
  const text = (await figure.textContent())!.trim();
  await figure.click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
});

test('the theme is chosen by a button and kept over a reload', async ({ page }) => {
  await open(page, 'shop');
  const button = page.locator('button.theme-button');
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await ground();
  await button.click();
  await button.click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  expect(await ground()).not.toBe(light);
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('on paper the page is light, and pictures stand where canvases were', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, 'shop');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(page.locator('#chart-timeline .plot > svg')).toBeVisible();
  await expect(page.locator('.tools').first()).toBeHidden();
  // A button stands on one sheet only: the heads of a long table would be empty on all others.
  const sort = page.locator('th .sort').first();
  expect(await sort.evaluate((one) => getComputedStyle(one).display)).toBe('contents');
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(ground).toMatch(/rgb\(255, 255, 255\)|rgba\(0, 0, 0, 0\)/);
});

test('what a hostile server sent is text and nothing else', async ({ page }) => {
  const watched = watch(page, [address('hostile.html')]);
  await open(page, 'hostile');
  await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
  expect(await page.locator('body').textContent()).toContain('<script>');
  expect(await page.locator('script:not([type="application/octet-stream"])').count()).toBe(1);
  expect(await page.locator('img[src], iframe, object, embed, [onerror], [onload], [onclick]').count()).toBe(0);
  await chart(page, 'timeline').focus();
  await page.keyboard.press('ArrowRight');
  quiet(watched);
});

test('an hour and nine hours stay quick to touch', async ({ page }) => {
  for (const name of ['hour', 'nine_hours']) {
    await open(page, name);
    const timeline = chart(page, 'timeline');
    await timeline.focus();
    const before = await timeline.locator('.pl-said').textContent();
    await page.keyboard.press('End');
    await expect(timeline.locator('.pl-said')).not.toHaveText(before ?? '');
    await expect(page.locator('#chart-heat')).toBeAttached();
  }
});
