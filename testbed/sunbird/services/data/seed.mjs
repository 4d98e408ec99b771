// Fills an empty database with the rows of the model, and the folder of the first argument with the blob store's files.
// A database that is full already is left alone. The second argument is the address of knowledge: what the load asks for
// is asked for once, so that the cache is warm when a measurement of one second begins.
import pg from "pg";
import { writeAssets } from "./assets.mjs";
import * as model from "./model.mjs";
import { sampled } from "./samples.mjs";

/** Rows per statement: large enough that parsing hardly counts, small enough for one message. */
const BATCH = 1_000;

writeAssets(process.argv[2]);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();

/** Inserts rows, which are arrays, by one `unnest` per batch. */
async function insert(table, columns, types, rows) {
  const lists = types.map((type, at) => `$${at + 1}::${type}[]`).join(", ");
  const names = columns.join(", ");
  for (let from = 0; from < rows.length; from += BATCH) {
    const part = rows.slice(from, from + BATCH);
    const values = types.map((_, at) => part.map((row) => row[at]));
    await client.query(`INSERT INTO ${table} (${names}) SELECT * FROM unnest(${lists})`, values);
  }
}

const { rows } = await client.query("SELECT count(*)::int AS count FROM content");
if (rows[0].count === model.COUNTS.contents) {
  console.log("seeded already");
} else {
  const started = performance.now();
  const known = model.ids();
  const bodies = model.contents(known);
  const text = JSON.stringify;
  await client.query("BEGIN");
  await client.query(
    "TRUNCATE content, hierarchy, search_entry, page_item, framework, channel, tenant, org, form, device",
  );
  await insert("content", ["id", "body"], ["text", "jsonb"], bodies.map((one) => [one.identifier, text(one)]));
  await insert("hierarchy", ["parent", "position", "child"], ["text", "int", "text"], model.hierarchy(known));
  await insert(
    "page_item",
    ["dialcode", "section", "position", "content_id"],
    ["text", "int", "int", "text"],
    model.pageItems(known, bodies),
  );
  const keyed = (list) => list.map((one) => [one.identifier, text(one)]);
  await insert("framework", ["id", "body"], ["text", "jsonb"], keyed(model.frameworks(known)));
  await insert("channel", ["id", "body"], ["text", "jsonb"], keyed(model.channels(known)));
  const tenants = model.tenants().map((one, at) => [model.SLUGS[at], text(one)]);
  await insert("tenant", ["slug", "body"], ["text", "jsonb"], tenants);
  await insert(
    "org",
    ["id", "slug", "is_root", "body"],
    ["text", "text", "boolean", "jsonb"],
    model.orgs(known).map((one) => [one.identifier, one.slug, one.isRootOrg, text(one)]),
  );
  await insert(
    "form",
    ["type", "subtype", "action", "body"],
    ["text", "text", "text", "jsonb"],
    model.forms().map((one) => [one.type, one.subtype, one.action, text(one.body)]),
  );
  // Lexemes travel as JSON, as an array of arrays must be rectangular in PostgreSQL.
  await client.query("CREATE TEMPORARY TABLE entry (id text, updated text, terms jsonb, summary jsonb) ON COMMIT DROP");
  await insert(
    "entry",
    ["id", "updated", "terms", "summary"],
    ["text", "text", "jsonb", "jsonb"],
    bodies.map((one) => [one.identifier, one.lastUpdatedOn, text(model.termsOf(one)), text(model.summaryOf(one))]),
  );
  await client.query(
    `INSERT INTO search_entry SELECT id, updated::timestamptz,
       array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(terms))), summary FROM entry`,
  );
  await client.query("COMMIT");
  await client.query("VACUUM ANALYZE");
  console.log(`${bodies.length} contents in ${Math.round(performance.now() - started)} ms`);
}
await client.end();

const { contents, collections } = sampled(model.ids());
const paths = [
  ...contents.map((id) => `/learning-service/content/v3/read/${id}`),
  ...collections.map((id) => `/learning-service/content/v3/hierarchy/${id}`),
];
async function ask() {
  for (let path = paths.pop(); path; path = paths.pop()) {
    const answer = await fetch(new URL(path, process.argv[3]));
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  }
}
await Promise.all(Array.from({ length: 8 }, ask));
