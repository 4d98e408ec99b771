// The text at the end: the full one.
// text: compared
// flags: --summary-mode=full
import http from 'k6/http';
import { check, group } from 'k6';

export const options = { vus: 1, iterations: 2, thresholds: { http_reqs: ['count==4'] } };

export default function () {
  group('outer', () => {
    check(http.get(`${__ENV.BASE}/echo`), { 'is 200': (r) => r.status === 200 });
    group('inner', () => check(http.get(`${__ENV.BASE}/status/404`), { 'is 404': (r) => r.status === 404 }));
  });
}
