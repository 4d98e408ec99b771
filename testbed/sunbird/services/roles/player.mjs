// The player: forms and tenants, small things that every client asks for when it starts, all from the cache.
import { envelope, Refusal, requestOf } from "../http.mjs";
import { cached } from "../stores.mjs";

const FORM = "SELECT body::text AS text FROM form WHERE type = $1 AND subtype = $2 AND action = $3";
const TENANT = "SELECT body::text AS text FROM tenant WHERE slug = $1";

export function playerRoutes(stores, options) {
  async function read(key, name, text, values) {
    const found = await cached(stores, options, key, async () => (await stores.rows(name, text, values))[0]?.text);
    if (found === undefined) throw new Refusal(404, `no ${name} \`${values.join(" ")}\``);
    return found;
  }
  return {
    "POST /plugin/v1/form/read": async ({ body }) => {
      const { type, subType, action } = requestOf(body);
      const form = await read(`form:${type}:${subType}:${action}`, "form", FORM, [type, subType, action]);
      return envelope("api.form.read", `{"form":${form}}`);
    },
    "GET /v1/tenant/info/": async ({ id }) => {
      const tenant = await read(`tenant:${id}`, "tenant", TENANT, [id]);
      return envelope("api.tenant.info", tenant);
    },
  };
}
