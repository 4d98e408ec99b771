// Tags as flags.
// flags: --tag build=7 --tag branch=main
import http from 'k6/http';

export const options = { thresholds: { 'http_reqs{build:7}': ['count==1'], 'http_reqs{branch:main,build:7}': ['count==1'] } };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
