// A jar of one's own, for one request.
import http from 'k6/http';

export default function () {
  const jar = new http.CookieJar();
  jar.set(__ENV.BASE, 'mine', '1');
  http.get(`${__ENV.BASE}/cookies`, { jar });
  http.get(`${__ENV.BASE}/cookies/set?stored=there`, { jar });
  http.get(`${__ENV.BASE}/cookies`, { jar });
  http.get(`${__ENV.BASE}/cookies`);
  // The order of the names is random in k6.
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(__ENV.BASE)).sort()));
}
