// --no-thresholds ignores them.
// flags: --no-thresholds
import http from 'k6/http';

export const options = { thresholds: { http_reqs: ['count>100'] } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
