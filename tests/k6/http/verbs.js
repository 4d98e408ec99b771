// Every verb, with a body where there is one.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/echo`;
  http.head(url);
  http.post(url, 'text');
  http.put(url, 'text');
  http.patch(url, 'text');
  http.del(url, 'text');
  http.del(url);
  http.options(url, 'text');
  http.request('GET', url);
  http.request('POST', url, 'text', { headers: { 'Content-Type': 'text/plain' } });
  http.request('purge', url);
}
