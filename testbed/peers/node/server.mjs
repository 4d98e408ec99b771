// A small JSON API on Node's own `http`, as ordinary as an application under test can be. The contract is in
// ../README.md; the Go peer keeps the same one. It prints `listening on ADDRESS:PORT` and ends when its stdin does.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

const stats = { connections: 0, requests: 0, logins: 0, refused: 0, uploads: 0 };
const tokens = new Map();
const sessions = new Map();
const items = new Map([1, 2, 3].map((id) => [id, { id, name: `item ${id}`, price: id * 10 }]));

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

function json(response, status, value, headers = {}) {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length, ...headers });
  response.end(body);
}

function userOf(request) {
  const given = /^bearer (.+)$/i.exec(request.headers.authorization ?? "");
  return given ? tokens.get(given[1]) : undefined;
}

function cookie(request, name) {
  const pairs = (request.headers.cookie ?? "").split(/; */).map((pair) => pair.split("="));
  return pairs.find((pair) => pair[0] === name)?.[1];
}

/** What the multipart reader inside Node makes of the body. */
async function partsOf(request) {
  const form = await new Response(await bodyOf(request), {
    headers: { "Content-Type": request.headers["content-type"] ?? "" },
  }).formData();
  const parts = [];
  for (const [name, value] of form) {
    const isFile = typeof value !== "string";
    const bytes = isFile ? Buffer.from(await value.arrayBuffer()) : Buffer.from(value);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    parts.push({ name, filename: isFile ? value.name : "", bytes: bytes.length, sha256 });
  }
  return parts;
}

const routes = {
  "GET /": (request, response) => response.end("ok\n"),
  "GET /stats": (request, response) => json(response, 200, stats),
  "POST /login": async (request, response) => {
    const body = (await bodyOf(request)).toString();
    const isJson = (request.headers["content-type"] ?? "").startsWith("application/json");
    const given = isJson ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
    if (given.password !== "secret") return refuse(response);
    stats.logins += 1;
    const user = { id: stats.logins, name: given.user };
    const token = randomBytes(16).toString("hex");
    tokens.set(token, user);
    json(response, 200, { token, user });
  },
  "GET /me": (request, response) => {
    const user = userOf(request);
    return user ? json(response, 200, { user }) : refuse(response);
  },
  "GET /items": (request, response, query) => {
    const limit = Number(query.get("limit") ?? items.size);
    json(response, 200, { items: [...items.values()].slice(0, limit), total: items.size });
  },
  "POST /items": async (request, response) => {
    if (!userOf(request)) return refuse(response);
    const item = { ...JSON.parse((await bodyOf(request)).toString()), id: items.size + 1 };
    items.set(item.id, item);
    json(response, 201, item, { Location: `/items/${item.id}` });
  },
  "POST /upload": async (request, response) => {
    stats.uploads += 1;
    json(response, 200, { parts: await partsOf(request) });
  },
  "GET /session": (request, response) => {
    const known = cookie(request, "sid");
    const sid = sessions.has(known) ? known : randomBytes(8).toString("hex");
    sessions.set(sid, (sessions.get(sid) ?? 0) + 1);
    const headers = sid === known ? {} : { "Set-Cookie": `sid=${sid}; Path=/; HttpOnly` };
    json(response, 200, { count: sessions.get(sid) }, headers);
  },
  "GET /redirect": (request, response, query) => {
    response.writeHead(Number(query.get("status") ?? 302), { Location: query.get("to") ?? "/" });
    response.end();
  },
  "GET /compressed": (request, response) => {
    const plain = Buffer.from("a line that repeats\n".repeat(1000));
    const takes = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
    response.setHeader("Content-Type", "text/plain");
    if (takes) response.setHeader("Content-Encoding", "gzip");
    response.end(takes ? gzipSync(plain) : plain);
  },
};

function refuse(response) {
  stats.refused += 1;
  json(response, 401, { error: "not logged in" }, { "WWW-Authenticate": "Bearer" });
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://peer");
  if (url.pathname !== "/stats") stats.requests += 1;
  const one = /^\/items\/(\d+)$/.exec(url.pathname);
  const item = one && request.method === "GET" ? items.get(Number(one[1])) : undefined;
  const route = routes[`${request.method} ${url.pathname}`];
  try {
    if (item) json(response, 200, item);
    else if (route) await route(request, response, url.searchParams);
    else json(response, 404, { error: "no such place" });
  } catch (error) {
    json(response, 400, { error: String(error) });
  }
});
server.on("connection", () => (stats.connections += 1));
server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
