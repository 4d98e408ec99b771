// Flags replace the scenarios of the script.
// flags: --vus 2 --iterations 6
import http from 'k6/http';

export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'other' } } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
export function other() {
  http.get(`${__ENV.BASE}/never`);
}
