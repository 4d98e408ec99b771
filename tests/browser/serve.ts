// `plimsoll serve` over a folder of its own, on a free port, as the tests of the console start it.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';
import { BINARY, FOLDER } from './tool';

export class Served {
  private constructor(
    private readonly child: ChildProcess,
    /** With the token, as it was printed. */
    readonly address: string,
    /** `http://127.0.0.1:PORT`; with a password `https://127.0.0.2:PORT`. */
    readonly origin: string,
  ) {}

  /** A state folder and the folder of runs in it. */
  static folder(): { state: string; runs: string } {
    const state = mkdtempSync(`${FOLDER}/console-`);
    const runs = `${state}/plimsoll/runs`;
    mkdirSync(runs, { recursive: true });
    return { state, runs };
  }

  static start(state: string, more: string[] = []): Promise<Served> {
    return Served.spawn(state, ['--listen', '127.0.0.1:0', ...more]);
  }

  /** With HTTPS and a password, on another address of this machine; the certificate is made for it and for one day. */
  static secure(state: string, password: string): Promise<Served> {
    const [cert, key, file] = ['cert.pem', 'key.pem', 'password'].map((name) => `${state}/${name}`) as [
      string,
      string,
      string,
    ];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    const names = ['-subj', '/CN=plimsoll', '-addext', 'subjectAltName=IP:127.0.0.2'];
    execFileSync('openssl', ['req', '-x509', ...curve, ...names, '-keyout', key, '-out', cert], { stdio: 'pipe' });
    writeFileSync(file, `${password}\n`, { mode: 0o600 });
    const flags = ['--tls-cert', cert, '--tls-key', key, '--password-file', file];
    return Served.spawn(state, ['--listen', '127.0.0.2:0', ...flags]);
  }

  private static async spawn(state: string, flags: string[]): Promise<Served> {
    const env = { ...process.env, XDG_STATE_HOME: state, NO_COLOR: '1' };
    const child = spawn(BINARY, ['serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'], env });
    for await (const line of createInterface({ input: child.stdout! })) {
      const address = /https?:\/\/127\.0\.0\.\d:\d+\/\?token=\S+/.exec(line)?.[0];
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
