// A chat with rooms: each message goes to every member of its room, the sender too, with a number that counts up in the
// room and the time of the sender. Switches (environment): SLOW_US is work for each receiver, LOSE=10 skips every tenth
// message, REPEAT=20 sends every twentieth twice. `GET /item/N` is a small object of a page.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const slowUs = Number(process.env.SLOW_US ?? 0);
const lose = Number(process.env.LOSE ?? 0);
const repeat = Number(process.env.REPEAT ?? 0);

/** @type {Map<string, { next: number, members: Set<import("ws").WebSocket> }>} */
const rooms = new Map();
const stats = { members: 0, received: 0, sent: 0 };

function work(us) {
  const end = process.hrtime.bigint() + BigInt(us) * 1000n;
  while (process.hrtime.bigint() < end);
}

function say(room, given) {
  const seq = room.next++;
  stats.received++;
  if (lose && seq % lose === 0) return;
  const times = repeat && seq % repeat === 0 ? 2 : 1;
  const text = JSON.stringify({ seq, id: given.id, at: given.at, text: given.text });
  for (const member of room.members) {
    if (slowUs) work(slowUs);
    for (let n = 0; n < times; n++) member.send(text);
    stats.sent += times;
  }
}

const server = createServer((request, response) => {
  const item = /^\/item\/([0-9]+)$/.exec(request.url);
  const json = (status, value) => {
    const body = JSON.stringify(value);
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  };
  if (item) return json(200, { item: Number(item[1]), pad: "x".repeat(1000) });
  if (request.url === "/health") return json(200, { ok: true });
  if (request.url === "/stats") return json(200, { rooms: rooms.size, ...stats });
  json(404, { error: "unknown path" });
});

const sockets = new WebSocketServer({ server, clientTracking: false, maxPayload: 65_536 });
sockets.on("connection", (socket, request) => {
  const name = /^\/room\/([a-z0-9-]+)$/.exec(request.url)?.[1];
  if (!name) return socket.close(1008, "unknown room");
  const room = rooms.get(name) ?? { next: 1, members: new Set() };
  rooms.set(name, room);
  room.members.add(socket);
  stats.members++;
  socket.on("message", (data) => {
    try {
      say(room, JSON.parse(data.toString()));
    } catch {
      socket.close(1007, "a message must be JSON");
    }
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    stats.members--;
    room.members.delete(socket);
    // Numbers of the next ones begin again.
    if (room.members.size === 0) rooms.delete(name);
  });
});

server.listen({ host: "127.0.0.1", port: Number(process.env.PORT), backlog: 4096 });
