// A cookie that has expired is not sent.
import http from 'k6/http';

export default function () {
  const jar = http.cookieJar();
  jar.set(__ENV.BASE, 'old', '1', { expires: 'Thu, 01 Jan 1970 00:00:00 GMT' });
  jar.set(__ENV.BASE, 'new', '2', { expires: 'Fri, 01 Jan 2100 00:00:00 GMT' });
  jar.set(__ENV.BASE, 'none', '3', { max_age: -1 });
  http.get(`${__ENV.BASE}/cookies`);
}
