// Cookies of responses are sent back, also in the next iteration of the same user only if noCookiesReset.
import http from 'k6/http';

export const options = { vus: 1, iterations: 2 };

export default function () {
  http.get(`${__ENV.BASE}/cookies`);
  http.get(`${__ENV.BASE}/cookies/set?a=1&b=2`);
  http.get(`${__ENV.BASE}/cookies`);
  http.get(`${__ENV.BASE}/cookies/delete?a`);
  http.get(`${__ENV.BASE}/cookies`);
}
