// http.url groups requests by a template.
import http from 'k6/http';
import { check } from 'k6';

export const options = { thresholds: { 'http_reqs{name:${}/echo?id=${}}': ['count==3'] } };

export default function () {
  for (const id of [1, 2, 3]) {
    const response = http.get(http.url`${__ENV.BASE}/echo?id=${id}`);
    check(response, { 'is 200': (r) => r.status === 200 });
  }
}
