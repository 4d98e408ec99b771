// A service of known capacity: `WORKERS` (4) places, each busy for `SERVICE_MS` (10) with one request, first come first
// served. Places become free by the model's clock, not when a timer happens to fire, so that the capacity is
// WORKERS / SERVICE_MS and not a little less. It prints `listening on ADDRESS:PORT` and ends when its stdin does.
import { createServer } from "node:http";

const workers = Number(process.env.WORKERS ?? 4);
const serviceMs = Number(process.env.SERVICE_MS ?? 10);
const freeAt = new Array(workers).fill(0);

const server = createServer((request, response) => {
  const now = performance.now();
  let place = 0;
  for (let i = 1; i < workers; i++) if (freeAt[i] < freeAt[place]) place = i;
  freeAt[place] = Math.max(now, freeAt[place]) + serviceMs;
  setTimeout(() => response.end("served\n"), freeAt[place] - now);
});

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const { address, port } = server.address();
  console.log(`listening on ${address}:${port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();
