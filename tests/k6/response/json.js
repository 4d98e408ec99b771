// json() with and without selectors. The order of keys is random in k6.
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
};

import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  console.log(JSON.stringify(sorted(r.json())));
  for (const selector of [
    'id', 'name', 'is_open', 'ratio', 'nothing', 'missing', 'tags', 'tags.1', 'tags.#', 'items.#', 'items.0.name',
    'items.#.name', 'items.1', 'items.#(id==2).name', 'items.#(price>1)#.id', 'items.2.parts.#.size', 'deep.a.b.c',
    'deep.dotted\\.key', 'deep.*.b', 'items.5', 'tags.-1', 'items.#(name=="third").parts.0.size', 'items.@reverse.0.id',
  ]) {
    console.log(selector, JSON.stringify(sorted(r.json(selector))));
  }
  console.log(typeof r.json('id'), typeof r.json('is_open'), r.json('nothing') === null, r.json('missing') === undefined);
}
