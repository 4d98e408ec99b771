// The full text with several scenarios.
// text: compared
// flags: --summary-mode=full
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    one: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'one' },
    two: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'two' },
  },
};

export function one() {
  check(http.get(`${__ENV.BASE}/echo?vu=one`), { 'one is 200': (r) => r.status === 200 });
}
export function two() {
  http.get(`${__ENV.BASE}/echo?vu=two`);
}
