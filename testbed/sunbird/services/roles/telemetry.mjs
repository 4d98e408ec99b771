// The telemetry service: a batch is unpacked, read, checked, stamped and written to a Redis stream, one entry a batch,
// as the original writes one message a batch to Kafka. The queue keeps the newest: nobody here takes them out.
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Refusal } from "../http.mjs";

const unpack = promisify(gunzip);
/** Batches that the queue keeps, about 20 MB. `~` lets Redis drop whole nodes, which is cheaper than an exact cut. */
const KEPT = { TRIM: { strategy: "MAXLEN", strategyModifier: "~", threshold: 100 } };
/** Unpacked bytes beyond which a batch is refused: 1 kB of gzip can hold 1 MB. */
const LARGEST_BYTES = 4 << 20;

async function eventsOf(body, encoding) {
  let value;
  try {
    const plain = encoding === "gzip" ? await unpack(body, { maxOutputLength: LARGEST_BYTES }) : body;
    value = JSON.parse(plain.toString());
  } catch (error) {
    throw new Refusal(400, `the batch cannot be read: ${error.message}`);
  }
  if (!Array.isArray(value?.events)) throw new Refusal(400, "`events` is missing");
  return value.events;
}

export function telemetryRoutes({ redis }) {
  return {
    "POST /v1/telemetry": async ({ body, headers }) => {
      const events = await eventsOf(body, headers["content-encoding"]);
      for (const event of events) {
        if (!event.eid || !event.mid || !event.ets) throw new Refusal(400, "an event lacks `eid`, `mid` or `ets`");
      }
      const syncts = Date.now();
      const batch = JSON.stringify({ id: "api.telemetry", ver: "3.0", syncts, events });
      await redis.xAdd("telemetry", "*", { events: String(events.length), batch }, KEPT);
      const params = { resmsgid: crypto.randomUUID(), status: "successful", events: events.length };
      const head = { id: "api.telemetry", ver: "3.0", ets: syncts, params };
      return JSON.stringify({ ...head, responseCode: "SUCCESS", result: {} });
    },
  };
}
