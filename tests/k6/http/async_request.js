// Requests that are awaited.
import http from 'k6/http';
import { check } from 'k6';

export default async function () {
  const response = await http.asyncRequest('GET', `${__ENV.BASE}/echo?n=1`);
  check(response, { 'is 200': (r) => r.status === 200 });
  const posted = await http.asyncRequest('POST', `${__ENV.BASE}/echo`, 'body', { headers: { 'X-A': '1' } });
  console.log(posted.json('body'), posted.json('method'));
}
