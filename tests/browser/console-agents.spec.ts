// Agents in the console: the list with the checks of their machines, a load on them, and a row for each while it runs.
import { expect, test } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Served } from './serve';
import { BINARY, Ruler } from './tool';
import { accessible, fits, quiet, watch } from './watching';

let nats: ChildProcess;
let agents: ChildProcess[] = [];
let ruler: Ruler;
let served: Served;

test.beforeAll(async () => {
  ruler = await Ruler.start();
  nats = spawn('nats-server', ['-a', '127.0.0.1', '-p', '-1'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let port = '';
  for await (const line of createInterface({ input: nats.stderr! })) {
    port = /Listening for client connections on .*:(\d+)/.exec(line)?.[1] ?? '';
    if (port) break;
  }
  const url = `nats://127.0.0.1:${port}`;
  agents = ['eu-1', 'us-1'].map((name) =>
    spawn(BINARY, ['agent', '--nats', url, '--name', name, '--labels', `region=${name.slice(0, 2)}`, '-q'], {
      stdio: 'ignore',
    }),
  );
  served = await Served.start(Served.folder().state, ['--nats', url]);
});

test.afterAll(async () => {
  await served?.stop();
  agents.forEach((agent) => agent.kill('SIGINT'));
  nats?.kill();
  ruler?.stop();
});

test('agents are listed, send a load, and have a row each in its live view', async ({ page }) => {
  const watched = watch(page, [served.origin]);
  await served.open(page, '#/agents');
  const table = page.getByRole('table');
  await expect(table.getByRole('row')).toHaveCount(3, { timeout: 20_000 });
  await expect(table.getByRole('row').nth(1)).toContainText('eu-1');
  await expect(table.getByRole('row').nth(1)).toContainText('region=eu');
  await expect(table.getByRole('row').nth(1)).toContainText('free');
  await accessible(page);
  for (const width of [400, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await fits(page);
  }

  await page.getByRole('link', { name: 'Start a run' }).click();
  await page.getByLabel('URL').fill(`${ruler.origin}/`);
  await page.getByLabel('Clients', { exact: true }).fill('100');
  await page.getByLabel('Duration (s)').fill('8');
  await page.getByLabel('Agents').fill('eu-1,us-1');
  await expect(page.locator('.command')).toContainText('--agents=eu-1,us-1');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const rows = page.getByRole('region', { name: 'Agents' }).getByRole('row');
  await expect(rows).toHaveCount(3, { timeout: 20_000 });
  await expect(rows.nth(1)).toContainText('50.0/s');
  await expect(rows.nth(2)).toContainText('running');
  await accessible(page);
  for (const width of [400, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await fits(page);
  }
  // The report has both.
  await expect(page).toHaveURL(/\/runs\/\w+$/, { timeout: 30_000 });
  await expect(page.locator('body')).toContainText('us-1');
  quiet(watched);
});
