// JSON bodies, and bodies that are empty or null.
// differs: requests empty-body
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/echo`;
  const params = { headers: { 'Content-Type': 'application/json' } };
  http.post(url, JSON.stringify({ a: 1, b: ['x', null], c: 'ü' }), params);
  http.post(url, '', params);
  http.post(url, null, params);
  http.post(url);
  http.post(url, '   ', { headers: { 'content-type': 'text/plain' } });
}
