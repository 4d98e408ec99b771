// Makes the results that the tests look at, once for all of them: real runs against the ruler, and runs in simulated
// time for what would take hours.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { at, beside, FOLDER, made, plimsoll, Ruler } from './tool';

/** Kinds of simulated runs, each of which becomes a page. */
export const MADE = [
  'hour',
  'nine_hours',
  'many_requests',
  'single_request',
  'all_errors',
  'hostile',
  'streams',
  'two_machines',
  'empty',
] as const;

const SHOP = (origin: string): string => `
name: shop in the evening
question: Does the shop keep its promise in the evening rush?
target: ${origin}
load:
  staircase: { from: 100/s, by: x2, hold: 2s, to: 400/s }
warmup: 1s
thresholds:
  - response_time p99 < 500ms
  - error_rate < 5%
scenarios:
  shopper:
    - group: browse
      steps:
        - get: /?delay=exponential:4ms
          name: front page
        - get: /item?delay=exponential:8ms&body=20000
          name: item
    - get: /cart?delay=3ms&error_rate=0.02&error_status=503
      name: cart
`;

async function results(): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const ruler = await Ruler.start();
  const tight = await Ruler.start(['--workers', '4', '--service', '10ms', '--queue', '5000']);
  const third = await Ruler.start(['--workers', '4', '--service', '10ms', '--queue', '5000']);
  try {
    writeFileSync(at('shop.yaml'), SHOP(ruler.origin));
    writeFileSync(
      at('sweep.yaml'),
      [
        `target: ${third.origin}`,
        'scenarios: { visitor: [ get: / ] }',
        'load: { users: [1, 2, 4, 8, 16], duration: 1s }',
        'repeat: 2',
      ].join('\n'),
    );
    const from = ['--threshold', 'response_time p99 < 60ms', '--from', '200/s', '--step-duration', '1s', '--max-time', '15s'];
    // Servers have so many workers as commanded, so loads that share no server may go side by side.
    const loads = [
      beside(['run', at('shop.yaml'), '--monitor', 'host', '-q', '--out', at('shop.plim')]),
      beside(['run', at('sweep.yaml'), '-q', '--out', at('sweep')]),
      (async () => {
        await beside([`${tight.origin}/`, '-r', '300', '-d', '3s', '-q', '--out', at('a.plim')]);
        await beside([`${tight.origin}/?delay=4ms`, '-r', '300', '-d', '3s', '-q', '--out', at('b.plim')]);
        await beside(['find', `${tight.origin}/`, ...from, '-q', '--out', at('search')]);
      })(),
    ];
    // All of them end before the servers do, whichever fails.
    const ends = await Promise.allSettled(loads);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  } finally {
    ruler.stop();
    tight.stop();
    third.stop();
  }
  for (const run of ['shop', 'a', 'b']) {
    plimsoll(['report', at(`${run}.plim`), '--html', at(`${run}.html`)]);
  }
  for (const kind of MADE) {
    plimsoll(['report', made(kind), '--html', at(`${kind}.html`)]);
  }
  plimsoll(['report', at('sweep'), '--html', at('sweep.html')]);
  plimsoll(['report', at('search'), '--html', at('search.html')]);
  plimsoll(['compare', at('a.plim'), at('b.plim'), '--html', at('compare.html')]);
  // Names in which no line may end, as long as a file system allows.
  const long = ['a', 'b'].map((run) => at(`${run}${'0123456789'.repeat(20)}.plim`));
  ['a', 'b'].forEach((run, place) => copyFileSync(at(`${run}.plim`), long[place]!));
  plimsoll(['compare', ...long, '--html', at('long_names.html')]);
  plimsoll(['report', long[0]!, '--html', at('long_name.html')]);
  writeFileSync(at('published.md'), PUBLISHED);
  plimsoll(['audit', at('published.md'), '--html', at('audit.html')]);
}

/** Two rows of which one cannot be true: 50 users at 20 ms each are 2,500 requests per second at most. */
const PUBLISHED = `# Results

| users | requests/s | average ms | p95 ms | p99 ms |
|---|---|---|---|---|
| 50 | 2400 | 20 | 31 | 40 |
| 50 | 9000 | 20 | 45 | 33 |
`;

export default results;
