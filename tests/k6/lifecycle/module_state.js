// Variables of a module belong to a user, and survive its iterations.
import http from 'k6/http';

export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 3 } } };

let count = 0;

export default function () {
  count += 1;
  http.get(`${__ENV.BASE}/echo?count=${count}`, { headers: { 'X-Vu': `${__VU}` } });
}
