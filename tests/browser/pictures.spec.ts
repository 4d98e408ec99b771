// The pictures of README and docs: `cargo xtask browser --pictures` makes them anew, from real runs against the test
// server, and writes docs/images. Look at them before you commit them. A machine that is too busy to show a plausible
// run fails here instead of being published.
import { expect, test, type Page } from '@playwright/test';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { FOLDER, document, at, page as address, plimsoll, Ruler } from './tool';

const IMAGES = resolve('../../docs/images');

test.describe.configure({ mode: 'serial', timeout: 300_000 });

/** Notes are about the plan (the target runs here, too); anything heavier is about a busy machine. */
function quiet(run: string): void {
  const heavy = document(run).cautions.filter((caution: { severity: string }) => caution.severity !== 'note');
  const said = heavy.map((caution: { code: string; evidence: string }) => `${caution.code}: ${caution.evidence}`);
  expect(said).toEqual([]);
}

/** The server, a folder for what the load leaves, and the files that the load writes into it. */
async function shown(page: Page, name: string, server: string[], load: string[], exits: number[]): Promise<void> {
  const [run, html] = [at(`${name}.plim`), at(`${name}.html`)];
  for (const old of [run, html]) rmSync(old, { recursive: true, force: true });
  const ruler = await Ruler.start(server);
  const command = load.map((word) => (word === 'URL' ? ruler.origin : word));
  // In the folder of its files, so that the page names no path of this machine.
  plimsoll([...command, '--out', `${name}.plim`, '--html', `${name}.html`, '--quiet'], exits, FOLDER);
  ruler.stop();
  quiet(run);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(address(`${name}.html`));
  await page.locator('html[data-script="ready"]').waitFor();
  await page.screenshot({ path: `${IMAGES}/${name}.png` });
}

// The case of README: a service that stops for 400 ms every 5 s, and a threshold that it misses.
test('a run that misses its threshold', async ({ page }) => {
  const server = ['--workers', '4', '--service', '2ms', '--queue', '5000', '--pause', '400ms/5s'];
  const load = ['URL', '-r', '1000', '-d', '18s', '--threshold', 'response_time p99 < 250ms'];
  await shown(page, 'report', server, load, [99]);
});
