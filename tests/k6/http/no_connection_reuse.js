// A connection for each request.
// connections: compared
import http from 'k6/http';

export const options = { vus: 1, iterations: 2, noConnectionReuse: true };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=1`);
  http.get(`${__ENV.BASE}/echo?n=2`);
}
