// A request that takes too long fails with a code; the script continues.
// differs: exit failed-requests
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const response = http.get(`${__ENV.BASE}/delay/2000`, { timeout: '200ms' });
  check(response, {
    'status is 0': (r) => r.status === 0,
    'code is 1050': (r) => r.error_code === 1050,
    'has an error': (r) => r.error.length > 0,
    'body is null': (r) => r.body === null,
  });
  const other = http.get(`${__ENV.BASE}/delay/1500`, { timeout: 300 });
  console.log(other.status, other.error_code, other.error);
  console.log(http.get(`${__ENV.BASE}/delay/10`, { timeout: '2s' }).status);
}
