// Only users: as many iterations.
// One user may start two of them.
// skips: requests
import http from 'k6/http';

export const options = { vus: 3 };

export default function () {
  http.get(`${__ENV.BASE}/echo`, { headers: { 'X-Vu': `${__ITER}` } });
}
