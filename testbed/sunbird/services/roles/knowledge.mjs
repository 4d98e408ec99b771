// The knowledge platform: contents, trees of collections, frameworks and channels, read through the cache.
import { envelope, Refusal } from "../http.mjs";
import { cached } from "../stores.mjs";

// The planner cannot know how few rows a recursion finds and would read the whole index for them; LATERAL with OFFSET 0
// makes it look up each child by its key.
const TREE = `
  WITH RECURSIVE tree (parent, position, child, depth) AS (
    SELECT parent, position, child, 1 FROM hierarchy WHERE parent = $1
    UNION ALL
    SELECT h.parent, h.position, h.child, t.depth + 1 FROM hierarchy h JOIN tree t ON h.parent = t.child
    WHERE t.depth < 5
  )
  SELECT parent, child, s.summary FROM tree
  JOIN LATERAL (SELECT summary FROM search_entry WHERE id = child OFFSET 0) s ON true
  ORDER BY depth, parent, position`;

async function treeOf(stores, id) {
  const [root] = await stores.rows("root", "SELECT body FROM content WHERE id = $1", [id]);
  if (!root) return undefined;
  const rows = await stores.rows("tree", TREE, [id]);
  const top = { ...root.body, children: [] };
  const nodes = new Map([[id, top]]);
  for (const { parent, child, summary } of rows) {
    const node = { ...summary, parent, children: [] };
    nodes.get(parent).children.push(node);
    nodes.set(child, node);
  }
  return JSON.stringify(top);
}

export function knowledgeRoutes(stores, options) {
  async function read(kind, id, load) {
    const text = await cached(stores, options, `${kind}:${id}`, load);
    if (text === undefined) throw new Refusal(404, `no ${kind} \`${id}\``);
    return text;
  }
  async function row(table, id) {
    const [found] = await stores.rows(table, `SELECT body::text AS text FROM ${table} WHERE id = $1`, [id]);
    return found?.text;
  }

  return {
    "GET /learning-service/content/v3/read/": async ({ id }) => {
      const text = await read("content", id, () => row("content", id));
      return envelope("ekstep.learning.content.read", `{"content":${text}}`, "3.0");
    },
    "GET /learning-service/content/v3/hierarchy/": async ({ id }) => {
      const text = await read("hierarchy", id, () => treeOf(stores, id));
      return envelope("ekstep.learning.content.hierarchy", `{"content":${text}}`, "3.0");
    },
    "GET /learning-service/framework/v3/read/": async ({ id, query }) => {
      const framework = JSON.parse(await read("framework", id, () => row("framework", id)));
      const wanted = query.get("categories")?.split(",");
      if (wanted) framework.categories = framework.categories.filter((one) => wanted.includes(one.code));
      return envelope("ekstep.learning.framework.read", JSON.stringify({ framework }), "3.0");
    },
    "GET /learning-service/channel/v3/read/": async ({ id }) => {
      const text = await read("channel", id, () => row("channel", id));
      return envelope("ekstep.learning.channel.read", `{"channel":${text}}`, "3.0");
    },
  };
}
