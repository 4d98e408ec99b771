// The binary under test and the ruler that it loads, as the tests of this folder start them.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

function named(variable: string): string {
  const value = process.env[variable];
  if (!value) {
    throw new Error(`${variable} is not set; these tests are started by \`cargo xtask browser\``);
  }
  return value;
}

/** The binary under test. */
export const BINARY = named('PLIMSOLL_BIN');
/** Where results of the tests lie. */
export const FOLDER = named('PLIMSOLL_BROWSER_FOLDER');

/** A file of the results folder. */
export function at(name: string): string {
  return `${FOLDER}/${name}`;
}

/** A page that was written there, as an address. */
export function page(name: string): string {
  return `file://${at(name)}`;
}

/** Runs the tool to its end. Ends other than those named are failures of the test. */
export function plimsoll(args: string[], exits: number[] = [0, 3, 99], cwd?: string): string {
  const done = spawnSync(BINARY, args, { encoding: 'utf8', timeout: 120_000, maxBuffer: 1 << 28, cwd });
  if (done.status === null || !exits.includes(done.status)) {
    throw new Error(`plimsoll ${args.join(' ')} ended with ${done.status}:\n${done.stderr}\n${done.stdout}`);
  }
  return done.stdout;
}

/** The same beside others. */
export async function beside(args: string[], exits: number[] = [0, 3, 99]): Promise<void> {
  const child = spawn(BINARY, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 120_000 });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (status === null || !exits.includes(status)) {
    throw new Error(`plimsoll ${args.join(' ')} ended with ${status}:\n${said}`);
  }
}

/** A run in simulated time, by the example of the record. */
export function made(kind: string): string {
  const path = at(`${kind}.plim`);
  if (!existsSync(path)) {
    execFileSync(named('PLIMSOLL_MAKE_RUN'), [kind, path], { timeout: 120_000 });
  }
  return path;
}

/** What `--json` prints of a run file. */
export function document(path: string): Record<string, any> {
  return JSON.parse(plimsoll(['report', path, '--json']));
}

/** A server whose behaviour is commanded, on a free port, which ends with the tests. */
export class Ruler {
  private constructor(private readonly child: ChildProcess, readonly origin: string) {}

  static async start(args: string[] = []): Promise<Ruler> {
    const fixed = ['test-server', '--listen', '127.0.0.1:0', '--until-stdin-closes', '--seconds', '900'];
    const child = spawn(BINARY, [...fixed, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout! });
    for await (const line of lines) {
      const address = /^listening on (.+)$/.exec(line)?.[1];
      if (!address) throw new Error(`the ruler said \`${line}\``);
      return new Ruler(child, `http://${address}`);
    }
    throw new Error('the ruler ended before it listened');
  }

  stop(): void {
    this.child.stdin?.end();
  }
}

/** The data block of a page file, decoded as its script does. */
export async function pageData(name: string): Promise<Record<string, any>> {
  const text = readFileSync(at(name), 'utf8');
  const block = /<script[^>]* id="page-data"[^>]*>([^<]*)<\/script>/.exec(text)?.[1];
  if (!block) throw new Error(`${name} has no data block`);
  const { gunzipSync } = await import('node:zlib');
  return JSON.parse(gunzipSync(Buffer.from(block.trim(), 'base64')).toString('utf8'));
}
