// A connection that is closed when it is used again.
// differs: exit failed-requests
// differs: requests retries
import http from 'k6/http';

export default function () {
  const first = http.get(`${__ENV.BASE}/status/200`);
  const second = http.get(`${__ENV.BASE}/close`);
  console.log(first.status, second.status);
}
