// The learner service: organisations, the pages that DIAL codes lead to, and devices. A page is put together by
// PostgreSQL alone, which all servers share: more servers do not make it faster.
import { envelope, Refusal, requestOf } from "../http.mjs";

const SECTIONS = `SELECT section, count(*)::int AS count, jsonb_agg(c.body ORDER BY i.position)::text AS contents
  FROM page_item i JOIN content c ON c.id = i.content_id WHERE i.dialcode = $1 GROUP BY section ORDER BY section`;
const REGISTER = `INSERT INTO device (id, first_access, last_access, profile) VALUES ($1, now(), now(), $2)
  ON CONFLICT (id) DO UPDATE SET last_access = now(), profile = excluded.profile`;

export function learnerRoutes(stores) {
  return {
    "POST /v1/org/search": async ({ body }) => {
      const { filters = {} } = requestOf(body);
      const values = [filters.slug ?? null, filters.identifier ?? null, filters.isRootOrg ?? null];
      const rows = await stores.rows(
        "org",
        `SELECT body FROM org WHERE ($1::text IS NULL OR slug = $1) AND ($2::text IS NULL OR id = $2)
           AND ($3::boolean IS NULL OR is_root = $3) ORDER BY id LIMIT 10`,
        values,
      );
      const content = rows.map((row) => row.body);
      return envelope("api.org.search", JSON.stringify({ response: { count: rows.length, content } }));
    },
    "POST /v1/page/assemble": async ({ body }) => {
      const { name, filters = {} } = requestOf(body);
      const sections = await stores.rows("sections", SECTIONS, [filters.dialcodes ?? ""]);
      if (!sections.length) throw new Refusal(404, `no page for \`${filters.dialcodes}\``);
      const list = sections.map((one) => `{"index":${one.section},"count":${one.count},"contents":${one.contents}}`);
      const page = `{"response":{"name":${JSON.stringify(name ?? "")},"sections":[${list.join(",")}]}}`;
      return envelope("api.page.assemble", page);
    },
    "POST /v3/device/register/": async ({ id, body }) => {
      const profile = requestOf(body);
      if (!/^[0-9a-f-]{36}$/.test(id)) throw new Refusal(400, `\`${id}\` is no number of a device`);
      await stores.rows("register", REGISTER, [id, profile]);
      return envelope("analytics.device-register", '{"message":"Device registered successfully"}', "3.0");
    },
  };
}
