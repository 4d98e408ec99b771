// Cookies of a request, with and without replace.
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/cookies/set?name=stored&other=x`);
  http.get(`${__ENV.BASE}/cookies`, { cookies: { name: 'sent' } });
  http.get(`${__ENV.BASE}/cookies`, { cookies: { name: { value: 'replaced', replace: true } } });
  http.get(`${__ENV.BASE}/cookies`, { headers: { Cookie: 'raw=1' } });
  http.get(`${__ENV.BASE}/cookies`);
}
