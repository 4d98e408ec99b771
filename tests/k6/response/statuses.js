// Statuses and their texts.
// differs: exit failed-requests
import http from 'k6/http';

export default function () {
  for (const status of [200, 204, 304, 404, 500, 503, 599]) {
    const r = http.get(`${__ENV.BASE}/status/${status}`);
    console.log(r.status, r.status_text, r.error_code, r.error, JSON.stringify(r.body));
  }
}
