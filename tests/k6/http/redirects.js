// Redirects are followed, each is a request of its own.
import http from 'k6/http';
import { check } from 'k6';

export const options = { thresholds: { http_reqs: ['count==9'] } };

export default function () {
  const response = http.get(`${__ENV.BASE}/redirect/3`);
  check(response, {
    'arrived': (r) => r.body === 'arrived',
    'url is the last one': (r) => r.url === `${__ENV.BASE}/redirect/0`,
  });
  const none = http.get(`${__ENV.BASE}/redirect/3`, { redirects: 0 });
  check(none, { 'is 302': (r) => r.status === 302, 'has a location': (r) => r.headers.Location === '/redirect/2' });
  const two = http.get(`${__ENV.BASE}/redirect/5`, { redirects: 2 });
  check(two, { 'still 302': (r) => r.status === 302 });
  http.get(`${__ENV.BASE}/redirect/0`, { redirects: 5 });
}
