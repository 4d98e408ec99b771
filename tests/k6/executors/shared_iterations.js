// Users share iterations.
import http from 'k6/http';
import exec from 'k6/execution';

export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 3, iterations: 10, maxDuration: '10s' } } };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=${exec.scenario.iterationInTest}`, { headers: { 'X-Vu': `${exec.scenario.iterationInTest}` } });
}
