// A part of the load.
// flags: --execution-segment 0:1/2
import http from 'k6/http';

export const options = { vus: 4, iterations: 8 };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
