// Sub-metrics by scenario.
import http from 'k6/http';

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'one' },
    second: { executor: 'per-vu-iterations', vus: 1, iterations: 3, exec: 'two' },
  },
  thresholds: {
    'http_reqs{scenario:first}': ['count==2'],
    'http_reqs{scenario:second}': ['count==3'],
    'iterations{scenario:second}': ['count==3'],
    'iteration_duration{scenario:first}': ['max<9000'],
  },
};

export function one() {
  http.get(`${__ENV.BASE}/echo?vu=one`);
}
export function two() {
  http.get(`${__ENV.BASE}/echo?vu=two`);
}
