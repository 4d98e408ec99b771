// Cookies of a response.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/cookies/full`);
  console.log(Object.keys(r.cookies).sort().join());
  for (const name of Object.keys(r.cookies).sort()) {
    for (const c of r.cookies[name]) {
      console.log(name, c.value, c.path, c.domain, c.http_only, c.secure, c.max_age, Object.keys(c).sort().join());
    }
  }
}
