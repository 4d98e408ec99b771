// The console as other machines reach it: over HTTPS, with a password, with a certificate that this browser has never
// seen; and what its session is worth where the key of it is missing.
import { expect, test } from '@playwright/test';
import { Served } from './serve';
import { plimsoll, Ruler } from './tool';
import { accessible, fits, quiet, watch } from './watching';

const PASSWORD = 'correct horse <battery>';
const folder = Served.folder();
let ruler: Ruler;
let served: Served;

test.use({ ignoreHTTPSErrors: true });

test.beforeAll(async () => {
  ruler = await Ruler.start();
  plimsoll([`${ruler.origin}/`, '-c', '2', '-d', '1s', '-q', '--out', `${folder.runs}/before.plim`]);
  served = await Served.secure(folder.state, PASSWORD);
});

test.afterAll(async () => {
  await served?.stop();
  ruler?.stop();
});

test('the password opens the list, and a run is started, seen live and stopped', async ({ page, context }) => {
  expect(served.origin).toMatch(/^https:\/\/127\.0\.0\.2:/);
  const watched = watch(page, [served.origin]);
  await page.goto(served.origin);
  await expect(page).toHaveURL(`${served.origin}/login`);
  await accessible(page);
  await fits(page);
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toContainText('Wrong password.');
  // A browser says on its console that an answer was 401; nothing else was said so far.
  expect(watched.said.splice(0).filter((text) => !text.includes('401'))).toEqual([]);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(`${served.origin}/`);
  await expect(page.locator('li.run')).toHaveCount(1);
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict', path: '/' });
  expect(cookie!.name).toMatch(/^__Host-plimsoll-\d+$/);

  await page.goto(`${served.origin}/#/start`);
  await page.getByLabel('URL').fill(`${ruler.origin}/`);
  await page.getByRole('radio', { name: 'Clients per second' }).check();
  await page.getByLabel('Clients', { exact: true }).fill('50');
  await page.getByLabel('Duration (s)').fill('25');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/#\/live\//);
  const requests = page.locator('.tiles .tile').first().locator('small');
  await expect(requests).toContainText('requests');
  const before = await requests.innerText();
  await expect(requests).not.toHaveText(before);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop the run' }).click();
  await expect(page).toHaveURL(/\/runs\/[^/]+$/, { timeout: 20_000 });
  await expect(page.locator('h1')).toBeVisible();
  quiet(watched);
});

test('the printed address opens it, too, and its key stays in no address', async ({ page }) => {
  const watched = watch(page, [served.origin]);
  await page.goto(served.address);
  await expect(page.locator('li.run').first()).toBeVisible();
  expect(page.url()).toBe(`${served.origin}/`);
  quiet(watched);
});

test('a browser that has the cookie without the key sees everything and changes nothing', async ({ page }) => {
  await page.goto(served.address);
  const first = page.locator('li.run').first();
  await expect(first).toBeVisible();
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await expect(first).toBeVisible();
  await first.hover();
  await first.getByRole('button', { name: /^Add note/ }).click();
  await page.getByLabel('Note', { exact: true }).fill('typed');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(first).toContainText('the session key is missing or wrong');
  await expect(page.getByLabel('Note', { exact: true })).toHaveValue('typed');
  // The way that the sentence names is one.
  await page.goto(served.address);
  await first.hover();
  await first.getByRole('button', { name: /^Add note/ }).click();
  await page.getByLabel('Note', { exact: true }).fill('typed again');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(first.locator('.note')).toHaveText('typed again');
});

test('of two who write a note at once the second keeps what was typed', async ({ page, browser }) => {
  const other = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  const run = (of: typeof page) => of.locator('li.run').filter({ has: of.locator('[title$="/before.plim"]') });
  for (const one of [page, other]) {
    await one.goto(served.address);
    await run(one).hover();
    await run(one).getByRole('button', { name: /^(Add note|Edit)/ }).click();
    await one.getByLabel('Tags, separated by commas').fill(one === page ? 'mine' : 'theirs');
  }
  await other.getByRole('button', { name: 'Save' }).click();
  await expect(run(other).locator('.tag')).toHaveText('theirs');
  // The list behind the editor has been refreshed by now; what counts is what was seen when it was opened.
  await page.waitForResponse((answer) => answer.url().endsWith('/api/runs'));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(run(page)).toContainText('the tags `theirs`');
  await expect(page.getByLabel('Tags, separated by commas')).toHaveValue('mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(run(page).locator('.tag')).toHaveText('mine');
  await other.context().close();
});
