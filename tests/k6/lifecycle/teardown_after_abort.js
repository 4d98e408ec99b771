// teardown() is called after test.abort().
// differs: metrics dropped-after-abort
// differs: keys dropped-after-abort
import exec from 'k6/execution';
import http from 'k6/http';

export const options = { vus: 1, iterations: 5 };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=${__ITER}`);
  if (__ITER === 1) exec.test.abort('enough');
}
export function teardown() {
  http.get(`${__ENV.BASE}/echo?teardown`);
}
