// Paths and attributes decide where a cookie is sent.
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/cookies/full`);
  http.get(`${__ENV.BASE}/cookies`);
  http.get(`${__ENV.BASE}/cookies/inner`);
  http.get(`${__ENV.BASE}/cookies/inner/deep`);
}
