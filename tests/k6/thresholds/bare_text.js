// A threshold as a text instead of a list.
// differs: exit lenient
// differs: checks lenient
// differs: metrics lenient
// differs: keys lenient
// differs: requests lenient
// differs: thresholds lenient
import http from 'k6/http';

export const options = { thresholds: { http_reqs: 'count==1', http_req_failed: ['rate==0'] } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
