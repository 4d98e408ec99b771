// delayAbortEval waits before a threshold may end the test.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = {
  vus: 1,
  iterations: 5,
  thresholds: { http_req_failed: [{ threshold: 'rate<0.5', abortOnFail: true, delayAbortEval: '30s' }] },
};

export default function () {
  http.get(`${__ENV.BASE}/status/500`);
  sleep(0.7);
}
