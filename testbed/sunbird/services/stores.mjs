// PostgreSQL, the system of record, and Redis, the cache in front of it and the queue behind telemetry.
import { createClient } from "@redis/client";
import pg from "pg";
import { watchPool } from "./metrics.mjs";

/** How long a cached answer lives. Redis evicts by these times too (volatile-lru), so the queue is never evicted. */
const TTL_S = 3600;

export async function openStores({ database, poolSize, redis }) {
  const pool = new pg.Pool({ connectionString: database, max: poolSize });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", (error) => console.error(`postgres: ${error.message}`));
  watchPool(pool);
  const client = createClient({ url: redis });
  client.on("error", (error) => console.error(`redis: ${error.message}`));
  await client.connect();
  await pool.query("SELECT 1");
  return {
    pool,
    redis: client,
    /** A named statement is prepared once per connection. */
    async rows(name, text, values) {
      return (await pool.query({ name, text, values })).rows;
    },
    ready: async () => client.isReady && (await pool.query("SELECT 1")).rowCount === 1,
  };
}

/** Reads through the cache: JSON text under `key`, or what `load` finds, which is kept unless it is nothing. */
export async function cached({ redis }, options, key, load) {
  if (options.cache === "off") return load();
  const known = await redis.get(key);
  if (known !== null) return known;
  const text = await load();
  if (text !== undefined) await redis.set(key, text, { expiration: { type: "EX", value: TTL_S } });
  return text;
}

export async function closeStores({ pool, redis }) {
  await Promise.all([pool.end(), redis.close()]);
}
