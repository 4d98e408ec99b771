// The tag `name` groups requests; thresholds on it count them.
import http from 'k6/http';

export const options = {
  thresholds: { 'http_reqs{name:items}': ['count==4'], 'http_req_failed{name:items}': ['rate==0'] },
};

export default function () {
  for (let id = 0; id < 4; id++) http.get(`${__ENV.BASE}/echo?id=${id}`, { tags: { name: 'items' } });
  http.get(`${__ENV.BASE}/status/500`);
}
