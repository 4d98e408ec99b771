// A limit on requests per second.
import http from 'k6/http';

export const options = { vus: 1, iterations: 1, rps: 20 };

export default function () {
  const started = Date.now();
  for (let n = 0; n < 6; n++) http.get(`${__ENV.BASE}/echo?n=${n}`);
  console.log(Date.now() - started >= 200);
}
