// The console against real runs: what is in the list, what can be done with it, and a run from its start to its report.
import { expect, test, type Page, type Request } from '@playwright/test';
import { copyFileSync, writeFileSync } from 'node:fs';
import { Served } from './serve';
import { document, made, plimsoll, Ruler } from './tool';
import { accessible, fits, legible, quiet, watch } from './watching';

const WIDTHS = [400, 1280, 2560];
const folder = Served.folder();
let ruler: Ruler;
let served: Served;

/** Ends with a report, after so many seconds. */
function run(name: string, more: string[]): string {
  const path = `${folder.runs}/${name}.plim`;
  plimsoll([`${ruler.origin}/`, '-c', '4', '-d', '1s', '-q', '--out', path, ...more]);
  return path;
}

/** The row of a run file. */
const row = (page: Page, name: string) =>
  page.locator('li.run').filter({ has: page.locator(`[title$="/${name}.plim"]`) });

test.beforeAll(async () => {
  ruler = await Ruler.start();
  run('calm', ['--threshold', 'response_time p99 < 5s']);
  run('strict', ['--threshold', 'response_time p99 < 1ns']);
  copyFileSync(made('hostile'), `${folder.runs}/hostile.plim`);
  writeFileSync(`${folder.runs}/broken.plim`, 'not a run file');
  served = await Served.start(folder.state);
});

test.afterAll(async () => {
  await served?.stop();
  ruler?.stop();
});

test('without the token there is nothing to see', async ({ page }) => {
  const answer = await page.goto(served.origin);
  expect(answer?.status()).toBe(401);
  expect(await page.locator('body').innerText()).not.toContain('calm');
});

test('the list says of each run what its file says', async ({ page }) => {
  const watched = watch(page, [served.origin]);
  await served.open(page);
  for (const name of ['calm', 'strict']) {
    const told = document(`${folder.runs}/${name}.plim`);
    const shown = row(page, name);
    await expect(shown).toHaveCount(1);
    const { result, sentence } = told['verdict'];
    await expect(shown.locator('.badge')).toHaveText(result);
    // The badge says the first word of it.
    await expect(shown.locator('.outcome')).toHaveText(sentence.replace(`${result}: `, ''));
  }
  await expect(page.getByText('1 file cannot be read')).toBeVisible();
  await page.getByText('1 file cannot be read').click();
  await expect(page.locator('.unreadable')).toContainText('broken.plim');
  quiet(watched);
});

test('names and sentences of strangers are text', async ({ page }) => {
  const watched = watch(page, [served.origin]);
  await served.open(page);
  await expect(page.locator('li.run')).toHaveCount(3);
  // Whatever stands in the file: no element of it, no dialog, no request.
  await expect(page.locator('li.run img, li.run script, li.run iframe')).toHaveCount(0);
  quiet(watched);
});

test('a search narrows the list while it is typed, and the keyboard is enough', async ({ page }) => {
  await served.open(page);
  await expect(page.locator('li.run')).toHaveCount(3);
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await page.keyboard.type('FAIL');
  const failed = page.locator('li.run').filter({ has: page.locator('.badge.fail') });
  await expect(page.locator('li.run')).toHaveCount(await failed.count());
  await expect(page.getByRole('status').filter({ hasText: 'of 3 runs' })).toBeVisible();
  await page.keyboard.type(' nowhere');
  await expect(page.getByText('No matching runs.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('li.run')).toHaveCount(3);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('li.run').nth(1).locator('a.name')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/[^/]+$/);
  await expect(page.locator('h1')).toBeVisible();
});

test('tags and a note are kept, also for the next browser, and filter', async ({ page, browser }) => {
  const watched = watch(page, [served.origin]);
  await served.open(page);
  const calm = row(page, 'calm');
  await calm.hover();
  await calm.getByRole('button', { name: /^Add note/ }).click();
  await page.getByLabel('Tags, separated by commas').fill('baseline, <b>bold</b>');
  await page.getByLabel('Note', { exact: true }).fill('before the <script>alert(1)</script> index');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(calm.getByRole('button', { name: /^Edit/ })).toBeFocused();
  await expect(calm.locator('.note')).toHaveText('before the <script>alert(1)</script> index');

  const other = await (await browser.newContext()).newPage();
  await served.open(other);
  const tag = other.getByRole('group', { name: 'Filter by tag' }).getByRole('button', { name: 'baseline' });
  await tag.click();
  await expect(tag).toHaveAttribute('aria-pressed', 'true');
  await expect(other.locator('li.run')).toHaveCount(1);
  await expect(other.locator('li.run')).toContainText('<b>bold</b>');
  await tag.click();
  await expect(other.locator('li.run')).toHaveCount(3);
  await other.context().close();
  quiet(watched);
});

test('two runs are compared, the older as A', async ({ page }) => {
  await served.open(page);
  await row(page, 'strict').getByRole('checkbox').check();
  await expect(page.getByRole('region', { name: 'Comparison' })).toContainText('Select a second run');
  await row(page, 'calm').getByRole('checkbox').check();
  const older = await row(page, 'calm').getAttribute('data-id');
  const newer = await row(page, 'strict').getAttribute('data-id');
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(`${served.origin}/compare?a=${older}&b=${newer}`);
  await expect(page.locator('h1')).toBeVisible();
  // From there to each of them, and from a run to the choice of the other.
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'A', exact: true }).click();
  await expect(page).toHaveURL(`${served.origin}/runs/${older}`);
  await page.getByRole('link', { name: /^Compare with/ }).click();
  await expect(row(page, 'calm').getByRole('checkbox')).toBeChecked();
  await expect(page.getByRole('region', { name: 'Comparison' })).toContainText('Select a second run');
});

test('what is wrong with an experiment is said before anything is sent', async ({ page }) => {
  const watched = watch(page, [served.origin]);
  await served.open(page, '#/start');
  await page.getByRole('tab', { name: 'File or text' }).click();
  await page.getByLabel('pasted text').check();
  await page.getByLabel('Experiment (YAML)').fill(`target: ${ruler.origin}\nloda: { users: 1 }\n`);
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.locator('.checked.fail pre')).toContainText('loda');
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeDisabled();
  const right = `target: ${ruler.origin}\nload: { users: 1, duration: 1s }\nscenarios: { one: [ get: / ] }\n`;
  await page.getByLabel('Experiment (YAML)').fill(right);
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.locator('.checked.pass')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeEnabled();
  quiet(watched);
});

test('a form with a mistake says so beside the field and sends nothing', async ({ page }) => {
  const asked: string[] = [];
  // A page that is opened by an address with a key shows it to the server, which starts nothing.
  const starts = (request: Request) => request.method() === 'POST' && !request.url().endsWith('/api/key');
  page.on('request', (request) => starts(request) && asked.push(request.url()));
  await served.open(page, '#/start');
  await page.getByLabel('Clients', { exact: true }).fill('0.5');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByLabel('URL')).toBeFocused();
  await expect(page.locator('#field-url-wrong')).toContainText('enter a URL');
  await expect(page.locator('#field-clients-wrong')).toContainText('whole number');
  expect(asked).toEqual([]);
});

test('a run that cannot begin says why', async ({ page }) => {
  await served.open(page, '#/start');
  // Port 1 of loopback: nobody listens there.
  await page.getByLabel('URL').fill('http://127.0.0.1:1/');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.locator('.said')).toContainText('127.0.0.1:1');
  await expect(page.getByRole('alert')).toContainText('could not start');
  await page.getByRole('link', { name: 'Back to the form' }).click();
  await expect(page.getByLabel('URL')).toHaveValue('http://127.0.0.1:1/');
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  const failed = page.locator('details.failed');
  await expect(failed).toHaveCount(1);
  await failed.locator('summary').click();
  await failed.getByRole('button', { name: 'Dismiss' }).click();
  await expect(failed).toHaveCount(0);
});

test('a plan whose p99 has too few answers says so before it runs', async ({ page }) => {
  await served.open(page, '#/start');
  await page.getByLabel('Clients per test').check();
  await page.getByLabel('Clients', { exact: true }).fill('100');
  await page.getByLabel('Duration (s)').fill('6');
  await expect(page.locator('.few')).toContainText('INCONCLUSIVE');
  await expect(page.locator('pre.command')).toContainText('--rate=16.666/s');
  await page.getByLabel('Clients', { exact: true }).fill('1000');
  await expect(page.locator('.few')).toHaveCount(0);
});

test('a run from the form: both browsers see it go on, a note, the stop, and the report', async ({ page, browser }) => {
  const watched = watch(page, [served.origin]);
  await served.open(page, '#/start');
  await page.getByLabel('URL').fill(`${ruler.origin}/?delay=3ms`);
  await page.getByRole('radio', { name: 'Clients per second' }).check();
  await page.getByLabel('Clients', { exact: true }).fill('200');
  await page.getByLabel('Duration (s)').fill('25');
  await page.getByLabel('Run name').fill('from the browser');
  await expect(page.locator('pre.command')).toContainText(`--rate=200/s --duration=25s`);
  await expect(page.getByRole('img', { name: /^Load over time/ })).toBeVisible();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/#\/live\//);

  // Rows arrive: the count of requests rises from one second to the next.
  const requests = (of: Page) => of.locator('.tiles .tile').first().locator('small');
  await expect(requests(page)).toContainText('requests');
  const before = await requests(page).innerText();
  await expect(requests(page)).not.toHaveText(before);
  await expect(page.locator('#chart-timeline canvas').first()).toBeVisible();

  // A second browser finds it in the list, and sees the same.
  const other = await (await browser.newContext()).newPage();
  const othersWatched = watch(other, [served.origin]);
  await served.open(other);
  await other.getByRole('link', { name: /watch/ }).first().click();
  await expect(requests(other)).toContainText('requests');

  await page.getByLabel('Note for the timeline').fill('cache <i>emptied</i>');
  await page.getByRole('button', { name: 'Add note' }).click();
  for (const one of [page, other]) await expect(one.locator('.marks')).toContainText('cache <i>emptied</i>');

  await page.getByRole('button', { name: 'Pause' }).click();
  for (const one of [page, other]) await expect(one.getByRole('button', { name: 'Resume' })).toBeVisible();
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();

  // While it goes on, the page is as good as any other.
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await fits(page);
  }
  await accessible(page);

  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Stop the run' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeFocused();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  for (const one of [page, other]) {
    await expect(one).toHaveURL(/\/runs\/[^/]+$/, { timeout: 20_000 });
    await expect(one.locator('h1')).toBeVisible();
    await expect(one.locator('body')).toContainText('cache <i>emptied</i>');
  }
  expect(page.url()).toBe(other.url());
  quiet(watched);
  quiet(othersWatched);
  await other.context().close();
  await served.open(page);
  await expect(page.locator('li.run').filter({ hasText: 'from the browser' })).toHaveCount(1);
});

for (const [name, hash] of [
  ['the list', ''],
  ['the start page', '#/start'],
] as const) {
  test(`${name} fits every width and is accessible in light and dark`, async ({ page }) => {
    const watched = watch(page, [served.origin]);
    await served.open(page, hash);
    await expect(page.locator('h1')).toBeVisible();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await fits(page);
        await (scheme === 'light' ? accessible(page) : legible(page));
      }
    }
    quiet(watched);
  });
}

test('an empty console says how the first run is made', async ({ page }) => {
  const empty = await Served.start(Served.folder().state);
  try {
    await empty.open(page);
    await expect(page.getByRole('heading', { name: 'No runs yet' })).toBeVisible();
    await expect(page.locator('.empty')).toContainText('plimsoll test-server');
    await accessible(page);
  } finally {
    await empty.stop();
  }
});
