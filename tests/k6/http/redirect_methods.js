// What becomes of method and body when a request is redirected.
import http from 'k6/http';

export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    http.post(`${__ENV.BASE}/redirect-to?status=${status}&url=/echo`, 'body', {
      headers: { 'Content-Type': 'text/plain', 'X-Own': '1' },
    });
  }
  http.put(`${__ENV.BASE}/redirect-to?status=302&url=/echo`, 'body');
  http.del(`${__ENV.BASE}/redirect-to?status=302&url=/echo`);
  http.head(`${__ENV.BASE}/redirect-to?status=302&url=/echo`);
}
