// Which statuses count as failed, by default.
// differs: exit failed-requests
import http from 'k6/http';

export default function () {
  for (const status of [200, 201, 204, 301, 304, 399, 400, 404, 499, 500, 503]) {
    http.get(`${__ENV.BASE}/status/${status}`, { redirects: 0 });
  }
}
