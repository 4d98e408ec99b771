// An object as a body is a form, in the order of the keys that k6 has.
import http from 'k6/http';

export default function () {
  http.post(`${__ENV.BASE}/echo`, { b: 'two words', a: '1&2', n: 7, flag: true, 'ü': 'ß' });
  http.post(`${__ENV.BASE}/echo`, { a: 'x' }, { headers: { 'Content-Type': 'application/json' } });
}
