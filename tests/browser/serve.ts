// `plimsoll serve` over a folder of its own, on a free port, as the tests of the console start it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';
import { BINARY, FOLDER } from './tool';

export class Served {
  private constructor(
    private readonly child: ChildProcess,
    /** With the token, as it was printed. */
    readonly address: string,
    /** `http://127.0.0.1:PORT`. */
    readonly origin: string,
  ) {}

  /** A state folder and the folder of runs in it. */
  static folder(): { state: string; runs: string } {
    const state = mkdtempSync(`${FOLDER}/console-`);
    const runs = `${state}/plimsoll/runs`;
    mkdirSync(runs, { recursive: true });
    return { state, runs };
  }

  static async start(state: string): Promise<Served> {
    const env = { ...process.env, XDG_STATE_HOME: state, NO_COLOR: '1' };
    const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'], env });
    for await (const line of createInterface({ input: child.stdout! })) {
      const address = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(line)?.[0];
      if (address) return new Served(child, address, new URL(address).origin);
    }
    throw new Error('`plimsoll serve` ended before it printed its address');
  }

  /** Lets this browser in, and opens a page of the console. */
  async open(page: Page, hash = ''): Promise<void> {
    await page.goto(this.address);
    if (hash) await page.goto(`${this.origin}/${hash}`);
  }

  /** As Ctrl-C does; running jobs write their reports first. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill('SIGINT');
    await once(this.child, 'exit');
  }
}
