// Scenarios with their own functions, tags, and variables.
import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';

export const options = {
  scenarios: {
    reads: { executor: 'shared-iterations', vus: 2, iterations: 6, exec: 'read', tags: { kind: 'read' }, env: { WHAT: 'r' } },
    writes: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'write', tags: { kind: 'write' }, env: { WHAT: 'w' } },
  },
  thresholds: { 'http_reqs{kind:read}': ['count==6'], 'http_reqs{kind:write}': ['count==2'], 'checks{kind:write}': ['rate==1'] },
};

export function read() {
  const n = exec.scenario.iterationInTest;
  http.get(`${__ENV.BASE}/echo?what=${__ENV.WHAT}`, { headers: { 'X-Vu': `r${n}` } });
}
export function write() {
  const r = http.post(`${__ENV.BASE}/echo?what=${__ENV.WHAT}`, 'w', { headers: { 'X-Vu': 'w' } });
  check(r, { written: (one) => one.status === 200 });
}
