// test.fail() lets the test continue, and ends with code 110.
import exec from 'k6/execution';
import http from 'k6/http';

export const options = { vus: 1, iterations: 3 };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=${__ITER}`);
  if (__ITER === 0) exec.test.fail('marked');
}
