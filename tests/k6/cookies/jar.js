// The jar of the user.
import http from 'k6/http';

export default function () {
  const jar = http.cookieJar();
  jar.set(__ENV.BASE, 'a', '1');
  jar.set(`${__ENV.BASE}/cookies`, 'b', '2', { path: '/cookies', max_age: 600, secure: false, http_only: true });
  jar.set(__ENV.BASE, 'hidden', '3', { domain: 'other.example' });
  http.get(`${__ENV.BASE}/cookies`);
  http.get(`${__ENV.BASE}/echo`);
  const found = jar.cookiesForURL(`${__ENV.BASE}/cookies`);
  console.log(Object.keys(found).sort().map((name) => `${name} ${found[name]}`).join());
  jar.delete(__ENV.BASE, 'a');
  http.get(`${__ENV.BASE}/cookies`);
  jar.clear(__ENV.BASE);
  http.get(`${__ENV.BASE}/cookies`);
}
