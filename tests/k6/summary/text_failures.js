// The text at the end of a test with failures.
// text: compared
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 3, thresholds: { http_req_failed: ['rate<0.1'] } };

export default function () {
  const r = http.get(`${__ENV.BASE}/status/${__ITER === 0 ? 200 : 500}`);
  check(r, { 'is 200': (one) => one.status === 200, 'is short': (one) => one.body.length < 100 });
}
