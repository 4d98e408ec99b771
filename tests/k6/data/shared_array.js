// SharedArray: elements are read-only copies.
import { SharedArray } from 'k6/data';
import http from 'k6/http';

const users = new SharedArray('users', () => JSON.parse(open('./lib/users.json')));
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };

export default function () {
  const user = users[(__VU + __ITER) % users.length];
  http.get(`${__ENV.BASE}/echo?user=${user.name}`, { headers: { 'X-Vu': `${__VU}` } });
}
