// Each user has its own cookies.
import http from 'k6/http';

export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };

export default function () {
  const params = { headers: { 'X-Vu': `${__VU}` } };
  http.get(`${__ENV.BASE}/cookies/set?user=${__VU}`, params);
  http.get(`${__ENV.BASE}/cookies`, params);
}
