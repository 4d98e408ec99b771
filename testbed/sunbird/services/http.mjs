// Node's own `http` with a table of routes in front: no framework, so that what is measured is the service and not the
// taste of one. A route is `METHOD /path` or `METHOD /path/` + the last segment as `id`.
import { createServer } from "node:http";
import { openLog } from "./log.mjs";
import { exposition, measured } from "./metrics.mjs";

const METHODS = "GET, POST, OPTIONS";
const ALLOWED = "Content-Type, Content-Encoding, Authorization, X-Channel-Id, X-Device-Id";

/** An answer that is an error of the caller: its code and a sentence. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
}

function find(routes, method, path) {
  const exact = routes[`${method} ${path}`];
  if (exact) return { handler: exact, id: "" };
  const cut = path.lastIndexOf("/") + 1;
  return { handler: routes[`${method} ${path.slice(0, cut)}`], id: decodeURIComponent(path.slice(cut)) };
}

function send(response, status, body, type = "application/json") {
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

/** What every service answers: the platform's envelope with the time and a number of the message. */
export function envelope(id, resultText, version = "1.0") {
  const stamp = new Date().toISOString();
  return (
    `{"id":"${id}","ver":"${version}","ts":"${stamp}","params":{"resmsgid":"${crypto.randomUUID()}","msgid":null,` +
    `"status":"successful","err":null,"errmsg":null},"responseCode":"OK","result":${resultText}}`
  );
}

function refusal(error) {
  const params = { status: "failed", err: error.status < 500 ? "CLIENT_ERROR" : "SERVER_ERROR", errmsg: error.message };
  return JSON.stringify({ ver: "1.0", ts: new Date().toISOString(), params, result: {} });
}

/** Listens on a port of loopback; resolves when connections are accepted. */
export async function serve({ name, port, routes, options, ready }) {
  const log = options.log === "all" ? openLog(`${name}-${port}.log`) : null;

  async function answer(request, response) {
    const url = request.url;
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    if (path === "/metrics") return send(response, 200, await exposition(), "text/plain; version=0.0.4");
    if (path === "/health") return send(response, (await ready()) ? 200 : 503, "{}");
    if (request.method === "OPTIONS") {
      const allowed = { "Access-Control-Allow-Methods": METHODS, "Access-Control-Allow-Headers": ALLOWED };
      // `Allow` tells this answer from the proxy's own.
      response.writeHead(204, { Allow: METHODS, ...allowed });
      log?.write(request, "", 204, "");
      return response.end();
    }
    const body = request.method === "POST" ? await bodyOf(request) : null;
    const { handler, id } = find(routes, request.method, path);
    let status = 200;
    let text;
    try {
      if (!handler) throw new Refusal(404, `nothing is served at \`${path}\``);
      const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
      text = await handler({ id, query, body, headers: request.headers });
    } catch (error) {
      status = error.status ?? 500;
      text = refusal(error);
      if (status >= 500) console.error(`${name} ${port}: ${request.method} ${path}: ${error.stack}`);
    }
    measured(name, status);
    // Before the answer leaves, as a blocking log appender does.
    log?.write(request, body, status, text);
    send(response, status, text);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      // A client that went away in the middle of its body; there is nobody to answer.
      console.error(`${name} ${port}: ${error.message}`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = Number(options.idle_ms);
  // Newer Node waits a second longer than it announces, to make the race with its peer rarer. The race is the subject.
  if ("keepAliveTimeoutBuffer" in server) server.keepAliveTimeoutBuffer = 0;
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", backlog: 4096 }, resolve);
  });
  return server;
}

/** The JSON of a request, which must have `request` in it. */
export function requestOf(body) {
  let value;
  try {
    value = JSON.parse(body?.toString() ?? "");
  } catch {
    throw new Refusal(400, "the body is not JSON");
  }
  if (typeof value?.request !== "object" || value.request === null) throw new Refusal(400, "`request` is missing");
  return value.request;
}
