// abortOnFail ends the test early.
// skips: requests metrics checks keys
import http from 'k6/http';
import { sleep } from 'k6';

export const options = {
  scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '20s', gracefulStop: '1s' } },
  thresholds: { http_req_failed: [{ threshold: 'rate<0.5', abortOnFail: true }] },
};

export default function () {
  http.get(`${__ENV.BASE}/status/500`);
  sleep(0.2);
}
