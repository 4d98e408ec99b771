// What a process says of itself, for Prometheus and for monitors of a load test: event loop, heap, and its answers.
import { collectDefaultMetrics, Counter, Gauge, register } from "prom-client";

collectDefaultMetrics();
const answers = new Counter({
  name: "http_answers_total",
  help: "Answers by service and status",
  labelNames: ["service", "status"],
});
const pool = new Gauge({
  name: "pg_pool_connections",
  help: "Connections of the PostgreSQL pool by state; `waiting` are callers without one",
  labelNames: ["state"],
});

export function measured(service, status) {
  answers.inc({ service, status });
}

/** Reads the pool whenever somebody asks for the metrics. */
export function watchPool(pgPool) {
  pool.collect = () => {
    pool.set({ state: "open" }, pgPool.totalCount);
    pool.set({ state: "idle" }, pgPool.idleCount);
    pool.set({ state: "waiting" }, pgPool.waitingCount);
  };
}

export function exposition() {
  return register.metrics();
}
