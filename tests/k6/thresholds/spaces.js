// Expressions with and without spaces.
import http from 'k6/http';

export const options = {
  thresholds: { http_reqs: ['  count   ==  1 ', 'count>0'], http_req_duration: ['p(99.99) < 10000'] },
};

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
