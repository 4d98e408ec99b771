// The content service: the public face of knowledge and search. It asks them by HTTP, reads their answers and wraps
// them anew, as its original does. `upstream=new` is the original's first mistake: it closed each connection again.
import { Agent, request as startRequest } from "node:http";
import { envelope, Refusal, requestOf } from "../http.mjs";

const HOST = "127.0.0.1";

function callerOf(options) {
  const agent =
    options.upstream === "new" ? new Agent({ keepAlive: false }) : new Agent({ keepAlive: true, scheduling: "lifo" });

  return function call(port, method, path, body) {
    return new Promise((resolve, reject) => {
      const headers = body ? { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } : {};
      const outgoing = startRequest({ host: HOST, port, method, path, headers, agent }, (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          if (response.statusCode === 200) return resolve(JSON.parse(text).result);
          // What is no answer of ours is a fault of ours, whatever the service behind said of it.
          const status = response.statusCode < 500 ? response.statusCode : 502;
          reject(new Refusal(status, JSON.parse(text).params.errmsg));
        });
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  };
}

export function contentRoutes(_stores, options) {
  const call = callerOf(options);
  const read = (api, path) => async ({ id, query }) => {
    const text = query.size ? `?${query}` : "";
    const result = await call(options.knowledge, "GET", `${path}${encodeURIComponent(id)}${text}`);
    return envelope(api, JSON.stringify(result));
  };
  const search = (api, path) => async ({ body }) => {
    const text = JSON.stringify({ request: requestOf(body) });
    return envelope(api, JSON.stringify(await call(options.search, "POST", path, text)));
  };

  return {
    "GET /v1/content/read/": read("api.content.read", "/learning-service/content/v3/read/"),
    "GET /v1/course/hierarchy/": read("api.course.hierarchy", "/learning-service/content/v3/hierarchy/"),
    "GET /v1/framework/read/": read("api.framework.read", "/learning-service/framework/v3/read/"),
    "GET /v1/channel/read/": read("api.channel.read", "/learning-service/channel/v3/read/"),
    "POST /v1/content/search": search("api.content.search", "/v3/search"),
    "POST /v1/content/composite/search": search("api.composite.search", "/v3/search"),
    "POST /v1/dial/assemble": search("api.dial.assemble", "/v3/dial/assemble"),
  };
}
