// Checks and requests of setup() count.
// differs: metrics setup-apart
// differs: keys setup-apart
// differs: checks setup-apart
// differs: thresholds setup-apart
// differs: exit setup-apart
import http from 'k6/http';
import { check, group } from 'k6';

export const options = { thresholds: { http_reqs: ['count==3'] } };

export function setup() {
  check(http.get(`${__ENV.BASE}/echo`), { 'setup is 200': (r) => r.status === 200 });
  group('prepare', () => http.get(`${__ENV.BASE}/echo`));
}
export default function () {
  check(http.get(`${__ENV.BASE}/echo`), { 'is 200': (r) => r.status === 200 });
}
