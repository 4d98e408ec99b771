// A script with a JSON body, a value from the response, and three checks.
import http from 'k6/http';
import { check } from 'k6';
const params = { headers: { 'Content-Type': 'application/json' }, tags: { name: 'order' } };
export default function () {
  const body = JSON.stringify({ sku: 'a-17', count: __ITER % 10, note: 'leave it at the door' });
  const res = http.post(__ENV.URL, body, params);
  const name = res.json('name');
  check(res, {
    'status is 200': (r) => r.status === 200,
    'is JSON': (r) => r.headers['Content-Type'] === 'application/json',
    'has a name': () => name === 'benchmark',
  });
}
