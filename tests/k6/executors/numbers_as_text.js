// Numbers as texts, as variables give them.
// flags: -e VUS=2 -e N=4
import http from 'k6/http';

export const options = { vus: __ENV.VUS, iterations: __ENV.N };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
