// test.abort() ends the test with code 108.
// differs: metrics dropped-after-abort
// differs: keys dropped-after-abort
import exec from 'k6/execution';
import http from 'k6/http';

export const options = { vus: 1, iterations: 10 };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=${__ITER}`);
  if (__ITER === 2) {
    exec.test.abort('a reason');
    http.get(`${__ENV.BASE}/never`);
  }
}
