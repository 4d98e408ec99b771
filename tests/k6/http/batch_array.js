// A batch of an array: URLs, arrays, and objects.
// differs: exit failed-requests
// order: any
import http from 'k6/http';

export default function () {
  const responses = http.batch([
    `${__ENV.BASE}/echo?n=1`,
    ['GET', `${__ENV.BASE}/echo?n=2`],
    ['POST', `${__ENV.BASE}/echo?n=3`, 'body', { headers: { 'X-A': '1' } }],
    { method: 'PUT', url: `${__ENV.BASE}/echo?n=4`, body: 'put', params: { tags: { name: 'put' } } },
    { url: `${__ENV.BASE}/status/404` },
    http.url`${__ENV.BASE}/echo?n=${5}`,
  ]);
  console.log(responses.length, responses.map((r) => r.status).join());
}
