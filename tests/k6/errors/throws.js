// An exception ends the iteration, and the test continues.
// differs: exit iterations-throw
import http from 'k6/http';

export const options = { vus: 1, iterations: 3 };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=${__ITER}`);
  throw new Error('this iteration is broken');
}
