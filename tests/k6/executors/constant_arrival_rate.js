// Iterations at a constant rate, the first at once.
// skips: metrics
import http from 'k6/http';
import exec from 'k6/execution';

export const options = {
  scenarios: {
    a: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '1s', preAllocatedVUs: 2, maxVUs: 4 },
  },
  thresholds: { iterations: ['count>=9', 'count<=11'] },
};

export default function () {
  const n = exec.scenario.iterationInTest;
  if (n < 9) http.get(`${__ENV.BASE}/echo?n=${n}`, { headers: { 'X-Vu': `${n}` } });
}
