// One process of the platform. Which services it runs, on which ports and with which defects, is said by LISTEN, such
// as `knowledge 4330; knowledge 4331 cache=off`: a defect is another port of the same process, so that a run with it
// and one without can take turns. `all` is every service on one port, a server that stands for itself.
import { serve } from "./http.mjs";
import { contentRoutes } from "./roles/content.mjs";
import { knowledgeRoutes } from "./roles/knowledge.mjs";
import { learnerRoutes } from "./roles/learner.mjs";
import { playerRoutes } from "./roles/player.mjs";
import { searchRoutes } from "./roles/search.mjs";
import { telemetryRoutes } from "./roles/telemetry.mjs";
import { closeStores, openStores } from "./stores.mjs";

const roles = {
  content: contentRoutes,
  knowledge: knowledgeRoutes,
  learner: learnerRoutes,
  player: playerRoutes,
  search: searchRoutes,
  telemetry: telemetryRoutes,
};
// Content only hands on to knowledge and search; a server that stands for itself is asked for those directly.
const direct = [knowledgeRoutes, learnerRoutes, playerRoutes, searchRoutes, telemetryRoutes];

/** Every option of a listener with the value of a healthy system. */
const healthy = {
  cache: "on", // off: each read goes to PostgreSQL
  log: "errors", // all: each request and answer is written to a file before the answer is sent
  idle_ms: "300000", // an idle connection is closed after this time; Node's own default is 5000
  upstream: "keep", // new: a new connection for each call to knowledge and search
  knowledge: "", // ports of the services behind content
  search: "",
};

function listeners(text) {
  return text.split(";").map((entry) => {
    const [role, port, ...pairs] = entry.trim().split(/\s+/);
    const given = Object.fromEntries(pairs.map((pair) => pair.split("=")));
    const unknown = Object.keys(given).find((key) => !(key in healthy));
    if (unknown) throw new Error(`unknown option \`${unknown}\` in LISTEN: ${Object.keys(healthy).join(", ")}`);
    if (role !== "all" && !roles[role]) throw new Error(`unknown role \`${role}\` in LISTEN`);
    return { role, port: Number(port), options: { ...healthy, ...given } };
  });
}

const wanted = listeners(process.env.LISTEN ?? "");
const stores = await openStores({
  database: process.env.DATABASE_URL,
  poolSize: Number(process.env.PG_POOL ?? 10),
  redis: process.env.REDIS_URL,
});
const servers = [];
for (const { role, port, options } of wanted) {
  const makers = role === "all" ? direct : [roles[role]];
  const routes = Object.assign({}, ...makers.map((make) => make(stores, options)));
  servers.push(await serve({ name: role, port, routes, options, ready: stores.ready }));
}
console.log(`listening on ${wanted.map((one) => one.port).join(", ")}`);

async function end() {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await closeStores(stores);
  process.exit(0);
}
process.on("SIGTERM", end);
process.on("SIGINT", end);
