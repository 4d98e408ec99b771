// Writes what the load reads: samples of the ids as CSV, and the two telemetry batches. Made once and committed, so
// that an experiment can be checked without the system:
// `node services/data/samples.mjs ../../experiments/sunbird/data`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { ids, roots, SLUGS } from "./model.mjs";
import { draws } from "./random.mjs";

/** Rows of a sample: few enough that a cache is warm after a second, many enough that no row is asked for at once. */
const ROWS = 500;
/** Events, bytes as sent and bytes unpacked, as recorded. */
const BATCHES = [
  { events: 200, packed: 1_533, plain: 184_885 },
  { events: 20, packed: 1_479, plain: 16_625 },
];

/** The rows that the load draws from. */
export function sampled(known) {
  const random = draws("samples");
  const hex = (length) => random.hex(length);
  return {
    contents: random.several(known.contents, ROWS),
    collections: random.several(roots(known), ROWS),
    dialcodes: random.several(known.dialcodes, ROWS),
    devices: Array.from({ length: ROWS }, () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`),
  };
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A batch of equal events, but for `varied` letters and digits in all, spread over their message ids; nothing when that
 * is more than there is room for. */
function batch(known, count, plain, varied) {
  const letters = draws(`telemetry-${count}`);
  const base = letters.hex(240);
  const share = (whole, at) => Math.floor(whole / count) + (at < whole % count ? 1 : 0);
  const event = (at) => ({
    eid: "IMPRESSION",
    ets: 1577836800000,
    ver: "3.0",
    mid: `IMPRESSION:${base.slice(0, 32)}${letters.text(ALPHABET, share(varied, at))}`,
    actor: { id: base.slice(32, 64), type: "User" },
    context: {
      channel: known.channels[0],
      pdata: { id: "plimsoll.lab.app", ver: "3.1", pid: "sunbird.app" },
      env: "home",
      sid: base.slice(64, 96),
      did: base.slice(96, 136),
      cdata: [{ id: base.slice(136, 168), type: "UserSession" }],
      rollup: { l1: known.orgs[0] },
    },
    object: { id: known.contents[0], type: "Content", ver: "1" },
    edata: { type: "view", pageid: "home", subtype: "init", uri: `/play/content/${known.contents[0]}`, visits: [] },
    tags: [base.slice(168, 240)],
  });
  const value = { id: "api.sunbird.telemetry", ver: "3.0", ets: 1577836800000, params: { msgid: "" }, events: [] };
  for (let at = 0; at < count; at += 1) value.events.push(event(at));
  // The rest of the size goes into a field that repeats, which hardly changes the packed size.
  const missing = plain - Buffer.byteLength(JSON.stringify(value));
  if (missing < 0) return undefined;
  for (const [at, one] of value.events.entries()) {
    one.edata.uri += "/".repeat(share(missing, at));
  }
  return Buffer.from(JSON.stringify(value));
}

/** The batch whose packed size comes nearest to the recorded one from below: more varied letters pack worse. */
function packedBatch(known, { events, packed, plain }) {
  const size = (varied) => {
    const text = batch(known, events, plain, varied);
    return text ? gzipSync(text, { level: 9 }).length : Infinity;
  };
  let [low, high] = [0, 400 * events];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (size(middle) > packed) high = middle;
    else low = middle;
  }
  return gzipSync(batch(known, events, plain, low), { level: 9 });
}

function write(folder) {
  const known = ids();
  const sample = sampled(known);
  const csv = (name, column, rows) => writeFileSync(join(folder, name), `${[column, ...rows].join("\n")}\n`);
  mkdirSync(folder, { recursive: true });
  csv("contents.csv", "id", sample.contents);
  csv("collections.csv", "id", sample.collections);
  csv("dialcodes.csv", "code", sample.dialcodes);
  csv("channels.csv", "id", known.channels);
  csv("frameworks.csv", "id", known.frameworks);
  csv("tenants.csv", "slug", SLUGS);
  csv("orgs.csv", "slug,id", SLUGS.map((slug, at) => `${slug},${known.orgs[at]}`));
  csv("devices.csv", "id", sample.devices);
  for (const one of BATCHES) {
    const file = packedBatch(known, one);
    writeFileSync(join(folder, `telemetry-${one.events}.json.gz`), file);
    console.log(`telemetry-${one.events}: ${file.length} bytes, unpacked ${one.plain}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!process.argv[2]) throw new Error("give the folder to write to");
  write(process.argv[2]);
}
