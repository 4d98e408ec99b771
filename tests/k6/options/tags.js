// Tags of the whole test.
import http from 'k6/http';

export const options = {
  tags: { test: 'whole' },
  thresholds: { 'http_reqs{test:whole}': ['count==1'], 'iterations{test:whole}': ['count==1'] },
};

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
