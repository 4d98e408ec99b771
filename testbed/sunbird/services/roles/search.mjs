// The search service: PostgreSQL's full text search in the place of Elasticsearch. Filters are lexemes of one tsvector,
// so a query is one GIN look-up; the hits are counted each time, as nothing here is cached.
import { envelope, Refusal, requestOf } from "../http.mjs";

const FACETS = ["status", "contentType", "objectType", "dialcodes"];
const MOST = 200;

/** One lexeme, quoted as to_tsquery wants it. */
function lexeme(facet, value) {
  return `'${`${facet}:${value}`.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** `(a | b) & c` of the filters, and the words of `query`. */
export function tsquery({ filters = {}, query = "" }) {
  const parts = [];
  for (const facet of FACETS) {
    const values = [filters[facet] ?? []].flat();
    if (values.length) parts.push(`(${values.map((value) => lexeme(facet, value)).join(" | ")})`);
  }
  for (const word of query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) parts.push(`'${word}'`);
  if (!parts.length) throw new Refusal(400, "neither `filters` nor `query` says what is looked for");
  return parts.join(" & ");
}

/** Only this order has an index; another one is refused instead of ignored. */
function checkOrder({ sort_by: order = {} }) {
  const wrong = Object.entries(order).find(([key, way]) => key !== "lastUpdatedOn" || way !== "desc");
  if (wrong) throw new Refusal(400, `cannot sort by \`${wrong[0]} ${wrong[1]}\`, only by \`lastUpdatedOn desc\``);
}

/** The hits as JSON text, with the wanted fields only. */
function listOf(rows, fields) {
  if (!fields) return rows.map((row) => row.text).join(",");
  return rows.map((row) => JSON.stringify(JSON.parse(row.text), fields)).join(",");
}

const COUNT = "SELECT count(*)::int AS count FROM search_entry WHERE terms @@ $1::tsquery";
const NEWEST = `SELECT summary::text AS text FROM search_entry WHERE terms @@ $1::tsquery
  ORDER BY updated DESC LIMIT $2 OFFSET $3`;
const WHOLE = `SELECT c.body::text AS text FROM search_entry s JOIN content c USING (id) WHERE s.terms @@ $1::tsquery
  ORDER BY s.updated DESC LIMIT $2`;

export function searchRoutes(stores) {
  return {
    "POST /v3/search": async ({ body }) => {
      const wanted = requestOf(body);
      const query = tsquery(wanted);
      checkOrder(wanted);
      const limit = Math.min(Number(wanted.limit ?? 100), MOST);
      const [[{ count }], hits] = await Promise.all([
        stores.rows("count", COUNT, [query]),
        stores.rows("newest", NEWEST, [query, limit, Number(wanted.offset ?? 0)]),
      ]);
      const list = listOf(hits, wanted.fields);
      return envelope("ekstep.composite-search.search", `{"count":${count},"content":[${list}]}`, "3.0");
    },
    "POST /v3/dial/assemble": async ({ body }) => {
      const wanted = requestOf(body);
      checkOrder(wanted);
      const limit = Math.min(Number(wanted.limit ?? 100), MOST);
      const rows = await stores.rows("whole", WHOLE, [tsquery(wanted), limit]);
      const list = listOf(rows, wanted.fields);
      const section = `{"name":${JSON.stringify(wanted.name ?? "")},"count":${rows.length},"contents":[${list}]}`;
      return envelope("ekstep.dial.assemble", `{"response":{"sections":[${section}]}}`, "3.0");
    },
  };
}
