// fail() ends the iteration, and the test continues.
// differs: exit iterations-throw
import { fail } from 'k6';
import http from 'k6/http';

export const options = { vus: 1, iterations: 3 };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=${__ITER}`);
  if (__ITER === 1) fail('the second iteration fails');
  console.log('completed', __ITER);
}
