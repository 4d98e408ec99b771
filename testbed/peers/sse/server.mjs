// An event-stream server whose protocol part (better-sse) is somebody else's: what it writes was not chosen to suit
// our reader. It prints `listening on ADDRESS:PORT` and ends when its stdin does.
//
//   GET /events?every=20&count=5&retry=1000   a stream of its own: ids from 1 (or behind Last-Event-ID)
//   GET /broadcast                            joins the one channel, which ticks every 50 ms while somebody listens
//   GET /stats                                {"connections":N,"sessions":N,"pushed":N,"last_ids":[...]}
import { createServer } from "node:http";
import { createChannel, createSession } from "better-sse";

const BROADCAST_MS = 50;
const stats = { connections: 0, sessions: 0, pushed: 0, last_ids: [] };
const channel = createChannel();
let tick = 0;

setInterval(() => {
  if (channel.sessionCount > 0) {
    tick += 1;
    channel.broadcast({ seq: tick, at_ms: Date.now() }, "tick", { eventId: String(tick) });
    stats.pushed += channel.sessionCount;
  }
}, BROADCAST_MS);

async function events(request, response, query) {
  const number = (name, otherwise) => Number(query.get(name) ?? otherwise);
  const session = await createSession(request, response, { retry: number("retry", 2000) });
  stats.sessions += 1;
  stats.last_ids.push(session.lastId);
  const last = number("count", 0);
  let seq = Number(session.lastId) || 0;
  const timer = setInterval(() => {
    seq += 1;
    session.push({ seq, at_ms: Date.now(), text: "first line\nsecond line" }, "item", String(seq));
    stats.pushed += 1;
    if (last > 0 && seq >= last) {
      clearInterval(timer);
      // The library writes at the end of the turn; the answer must not end before that.
      setImmediate(() => response.end());
    }
  }, number("every", 100));
  session.once("disconnected", () => clearInterval(timer));
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://peer");
  if (url.pathname === "/events") {
    await events(request, response, url.searchParams);
  } else if (url.pathname === "/broadcast") {
    channel.register(await createSession(request, response));
    stats.sessions += 1;
  } else if (url.pathname === "/stats") {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(stats));
  } else {
    response.statusCode = 404;
    response.end();
  }
});
server.on("connection", () => (stats.connections += 1));
server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
