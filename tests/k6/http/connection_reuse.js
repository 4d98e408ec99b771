// One connection for all requests and iterations of a user.
// connections: compared
import http from 'k6/http';

export const options = { vus: 1, iterations: 3 };

export default function () {
  http.get(`${__ENV.BASE}/echo?n=1`);
  http.get(`${__ENV.BASE}/echo?n=2`);
}
