// A threshold that is missed: exit code 99.
import http from 'k6/http';

export const options = {
  vus: 1,
  iterations: 4,
  thresholds: { http_req_failed: ['rate<0.1'], http_reqs: ['count>100', 'count<10'] },
};

export default function () {
  http.get(`${__ENV.BASE}/status/${__ITER % 2 ? 500 : 200}`);
}
