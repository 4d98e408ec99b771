// No graceful stop: requests in flight are cancelled.
import http from 'k6/http';

export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };

export default function () {
  http.get(`${__ENV.BASE}/delay/5000`);
}
