// The request of a response.
import http from 'k6/http';

export default function () {
  const r = http.post(`${__ENV.BASE}/echo`, 'sent', { headers: { 'X-Client': 'c' }, cookies: { a: '1' } });
  console.log(r.request.method, r.request.url === `${__ENV.BASE}/echo`, r.request.body);
  const { headers } = r.request;
  console.log(Object.keys(headers).sort().map((name) => `${name} ${headers[name]}`).join());
  console.log(JSON.stringify(r.request.cookies));
  console.log(Object.keys(r.request).sort().join());
}
