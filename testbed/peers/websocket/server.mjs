// A WebSocket server over HTTP/1.1 and HTTP/2 (RFC 8441) on the same port: connections and streams are Node's, and the
// handshake and the frames are those of the library `ws`. It prints `listening on ADDRESS:PORT` and ends when its stdin
// does. `--announced N`: only the first N connections of HTTP/2 announce that they open WebSockets.
// `--settings no`: connections of HTTP/2 after the first get no answer at all. `--certificate FILE --key FILE`: the same
// over TLS on a port that `/stats` names.
//
//   /echo               returns each message
//   ?every=20&count=5   sends messages with `seq` instead, and closes
//   ?close_after=2&code=1000   closes after this number of messages
//   ?cut_after=2        ends its direction without a close frame
//   ?reset_after=2      resets the stream, or the connection of HTTP/1.1
//   ?goaway_after=2     announces the end of the connection (GOAWAY), and returns the messages of its open sockets
//   ?refuse=403         refuses the handshake
//   ?close_and_end=2    ends its direction directly after its close frame
//   /graphql            operations of GraphQL (see graphql.mjs)
//   /get                an ordinary response
//   /stats              what it has counted
import { readFileSync } from "node:fs";
import { createServer as createHttp1 } from "node:http";
import { createSecureServer, createServer as createHttp2 } from "node:http2";
import { createServer } from "node:net";
import { WebSocketServer } from "ws";
import { operate, stats as operations } from "./graphql.mjs";

const PREFACE = "PRI * HTTP/2.0";
const stats = {
  connections: 0, connections_http2: 0, opened: 0, opened_http2: 0, received: 0, sent: 0, compressed: 0, requests: 0,
  cut: 0, resets_received: 0, codes: {}, fields: {}, sockets_most: 0, subprotocols: {},
};
let open = 0;
const args = process.argv.slice(2);
const option = (name, otherwise) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise);
const announced = Number(option("--announced", Infinity));
const isSilentLater = option("--settings") === "no";

const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: { threshold: 0 },
  handleProtocols: (offered) => [...offered].at(-1),
});
const count = (counts, key) => (counts[key] = (counts[key] ?? 0) + 1);

function serve(socket, url, transport) {
  const query = url.searchParams;
  const number = (name) => (query.has(name) ? Number(query.get(name)) : Infinity);
  const code = query.has("code") ? Number(query.get("code")) : 1000;
  stats.opened += 1;
  stats.opened_http2 += transport.session ? 1 : 0;
  stats.compressed += socket.extensions ? 1 : 0;
  if (socket.protocol) count(stats.subprotocols, socket.protocol);
  if (url.pathname === "/graphql") return operate(socket, query);
  open += 1;
  stats.sockets_most = Math.max(stats.sockets_most, open);
  let received = 0;
  let isClosing = false;
  const send = (text, options) => {
    stats.sent += 1;
    socket.send(text, options);
  };
  socket.on("message", (data, binary) => {
    stats.received += 1;
    received += 1;
    if (!query.has("every")) send(data, { binary });
    if (received === number("goaway_after")) transport.session?.close();
    if (received === number("cut_after")) transport.end();
    if (received === number("reset_after")) transport.session ? transport.close(2) : transport.resetAndDestroy();
    if (received === number("close_after") || received === number("close_and_end")) {
      isClosing = true;
      socket.close(code);
      if (query.has("close_and_end")) transport.end();
    }
  });
  socket.on("close", (code) => {
    open -= 1;
    if (code === 1006) stats.cut += 1;
    else if (!isClosing) count(stats.codes, code);
  });
  socket.on("error", () => {});
  if (!query.has("every")) return;
  let seq = 0;
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return clearInterval(timer);
    seq += 1;
    send(JSON.stringify({ seq }));
    if (seq >= number("count")) {
      clearInterval(timer);
      isClosing = true;
      socket.close(code);
    }
  }, Number(query.get("every")));
}

const urlOf = (path) => new URL(path, "http://localhost");

function answer(path) {
  if (path === "/stats") return JSON.stringify({ ...stats, operations });
  stats.requests += 1;
  return "ok\n";
}

const upgraded = (request, socket, head) => {
  const url = urlOf(request.url);
  if (url.searchParams.has("refuse")) {
    return socket.end(`HTTP/1.1 ${url.searchParams.get("refuse")} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  }
  sockets.handleUpgrade(request, socket, head, (one) => serve(one, url, socket));
};
const http1 = createHttp1((request, response) => response.end(answer(request.url)));
http1.on("upgrade", upgraded);

/** Opens a socket on a stream: `ws` sees the upgrade of HTTP/1.1, whose response becomes that of the stream. */
function connect(stream, headers) {
  count(stats.fields, Object.keys(headers).filter((name) => /^sec-|^:|^upgrade|^connection/.test(name)).sort().join(" "));
  const url = urlOf(headers[":path"]);
  if (headers[":method"] !== "CONNECT" || headers[":protocol"] !== "websocket" || url.searchParams.has("refuse")) {
    return stream.respond({ ":status": Number(url.searchParams.get("refuse") ?? 400) }, { endStream: true });
  }
  const upgrade = {
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":"))),
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  stream.write = (head) => {
    delete stream.write;
    const fields = head.split("\r\n").map((line) => line.split(": "));
    const kept = fields.filter(([name]) => /^sec-websocket-(extensions|protocol)$/i.test(name));
    stream.respond({ ":status": 200, ...Object.fromEntries(kept) });
    return true;
  };
  sockets.handleUpgrade({ method: "GET", url: headers[":path"], headers: upgrade }, stream, Buffer.alloc(0), (one) =>
    serve(one, url, stream),
  );
}

function http2(server) {
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.on("aborted", () => (stats.resets_received += 1));
    if (headers[":method"] === "CONNECT") return connect(stream, headers);
    stream.respond({ ":status": 200 });
    stream.end(answer(headers[":path"]));
  });
  server.on("sessionError", () => {});
  return server;
}
const [announcing, silent] = [true, false].map((enableConnectProtocol) =>
  http2(createHttp2({ settings: { enableConnectProtocol } })),
);
if (args.includes("--certificate")) {
  const [cert, key] = ["--certificate", "--key"].map((name) => readFileSync(option(name)));
  const secure = http2(createSecureServer({ cert, key, allowHTTP1: true, settings: { enableConnectProtocol: true } }));
  secure.on("upgrade", upgraded);
  secure.listen(0, "127.0.0.1", () => (stats.tls_port = secure.address().port));
}
let greeted = 0;

const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", (bytes) => {
    socket.pause();
    socket.unshift(bytes);
    const isHttp2 = bytes.toString("latin1").startsWith(PREFACE);
    stats.connections += 1;
    stats.connections_http2 += isHttp2 ? 1 : 0;
    if (!isHttp2) {
      http1.emit("connection", socket);
      return socket.resume();
    }
    greeted += 1;
    if (isSilentLater && greeted > 1) return;
    (greeted <= announced ? announcing : silent).emit("connection", socket);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
