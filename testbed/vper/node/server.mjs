// Pins on a map, the Node twin: express and pg, as such services are usually written. Its Go twin (../go) keeps the same
// contract; both together ask what the language changes when the database, the proxy and the network are the same.
import { rmSync } from "node:fs";
import express from "express";
import pg from "pg";
import { collectDefaultMetrics, register } from "prom-client";

// PostgreSQL's bigint comes as a string, because it may not fit a double. Milliseconds since 1970 do fit.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const RADIUS = 500;
// The end of the map, and far enough from that of an int32.
const FARTHEST = 1_000_000;
// With a name it is prepared once on each connection.
const PINS = {
  name: "pins",
  text: "SELECT id, title, created_at, x, y FROM pins WHERE x >= $1 AND x <= $2 AND y >= $3 AND y <= $4",
};

const connections = Number(process.env.POOL ?? 10);
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: connections,
  // Never closed for idleness: opening them is part of the start, not of a measurement.
  idleTimeoutMillis: 0,
  // As many requests wait as there are: the queue is the finding, so nobody is turned away from it.
  connectionTimeoutMillis: 0,
});
pool.on("error", (error) => console.error("an idle connection to the database failed:", error.message));
collectDefaultMetrics();

const app = express();
const answer = (response, status, status_code, status_message, body = {}) =>
  response.status(status).json({ response: body, status_code, status_message });

app.get("/metrics", async (_request, response) => {
  response.type(register.contentType).send(await register.metrics());
});

app.get("/pins/:x/:y", async (request, response) => {
  if (!request.get("X-Player")) return answer(response, 401, 2, "the header X-Player is missing");
  const [x, y] = [Number(request.params.x), Number(request.params.y)];
  const onMap = (at) => Number.isInteger(at) && Math.abs(at) <= FARTHEST;
  if (!onMap(x) || !onMap(y)) return answer(response, 400, 3, "there is no such place");
  const values = [x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS];
  const { rows } = await pool.query({ ...PINS, values });
  answer(response, 200, 1, "OK", { count: rows.length, rows });
});

app.use((error, _request, response, _next) => {
  console.error(error.message);
  answer(response, 500, 4, "the database did not answer");
});

// The pool is full and the statement prepared before the first player comes. A pool that fills under load finds no
// descriptor left where the players have taken them all, and then every answer is a 500.
await Promise.all(Array.from({ length: connections }, () => pool.query({ ...PINS, values: [0, 0, 0, 0] })));

const listen = (place) =>
  app.listen(place, (error) => {
    if (error) throw error;
  });
listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 4096 });
if (process.env.SOCKET) {
  // For a front in another network namespace, which shares files but no addresses. A process that was killed leaves it.
  rmSync(process.env.SOCKET, { force: true });
  listen({ path: process.env.SOCKET, backlog: 4096 });
}
