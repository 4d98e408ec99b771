// What every test of a page holds it to: it asks nobody for anything, it says nothing on the console, it fits.
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import type { RunOptions } from 'axe-core';

/** Notes what a page does that it must not do. */
export interface Watched {
  /** Texts of errors and warnings on the console, and of exceptions. */
  said: string[];
  /** Addresses that were asked for besides those allowed. */
  asked: string[];
  /** Dialogs that were opened: no page of ours opens one. */
  dialogs: string[];
}

/** Begins to watch; `allowed` are beginnings of addresses that may be asked for. */
export function watch(page: Page, allowed: string[]): Watched {
  const watched: Watched = { said: [], asked: [], dialogs: [] };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) watched.said.push(message.text());
  });
  page.on('pageerror', (error) => watched.said.push(String(error)));
  page.on('request', (request) => {
    const address = request.url();
    const own = ['data:', 'blob:'].some((scheme) => address.startsWith(scheme));
    if (!own && !allowed.some((start) => address.startsWith(start))) watched.asked.push(address);
  });
  page.on('dialog', (dialog) => {
    watched.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return watched;
}

/** Nothing of what is watched has happened. */
export function quiet(watched: Watched): void {
  expect(watched).toEqual({ said: [], asked: [], dialogs: [] });
}

/** Nobody has to scroll sideways. */
export async function fits(page: Page): Promise<void> {
  const [inside, wide] = await page.evaluate(() => {
    const root = document.documentElement;
    return [root.scrollWidth, root.clientWidth];
  });
  expect(inside, 'the page is wider than its window').toBeLessThanOrEqual(wide! + 1);
}

/** The rules of WCAG 2.1 A and AA as axe knows them. */
export async function accessible(page: Page): Promise<void> {
  const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
  await obeys(page, { runOnly: { type: 'tag', values: rules } });
}

/** Those that the other theme can break: between the two nothing changes but colours. */
export async function legible(page: Page): Promise<void> {
  await obeys(page, { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } });
}

/** Only what is wrong is collected, and in the page itself: it has no frames, and lists of what is right are long. */
async function obeys(page: Page, rules: RunOptions): Promise<void> {
  const axe = new AxeBuilder({ page }).options({ ...rules, resultTypes: ['violations'] }).setLegacyMode(true);
  const found = await axe.analyze();
  const shown = found.violations.map((rule) => ({
    rule: rule.id,
    what: rule.help,
    where: rule.nodes.slice(0, 3).map((node) => node.target.join(' ')),
  }));
  expect(shown).toEqual([]);
}
