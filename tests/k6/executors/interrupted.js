// Iterations after the graceful stop are interrupted, and not counted.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '500ms' } } };

export default function () {
  http.get(`${__ENV.BASE}/echo?before`);
  sleep(20);
  http.get(`${__ENV.BASE}/echo?after`);
}
