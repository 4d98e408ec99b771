// One pool for the process, as in the original. Only the users route imports this file: a second importer would get a
// pool of its own, because Next bundles each route by itself.
import pg from "pg";
import { Gauge } from "prom-client";
import { poolMax } from "./settings";

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: poolMax });

// A connection that breaks while it is idle has no caller who could be told; without a listener it would end the
// process.
pool.on("error", (error) => console.error(`idle connection to the database: ${error.message}`));

new Gauge({
  name: "registration_pool_waiting",
  help: "Requests that wait for a connection to the database.",
  collect() {
    this.set(pool.waitingCount);
  },
});
new Gauge({
  name: "registration_pool_connections",
  help: "Connections to the database, idle ones included.",
  collect() {
    this.set(pool.totalCount);
  },
});
