// Numbers of iterations are unique over all users.
import exec from 'k6/execution';
import http from 'k6/http';

export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 3 } } };

export default function () {
  http.get(`${__ENV.BASE}/echo`, { headers: { 'X-Vu': `${exec.scenario.iterationInTest}` } });
}
