// Arrays in a form are repeated keys.
import http from 'k6/http';

export default function () {
  http.post(`${__ENV.BASE}/echo`, { list: ['a', 'b c'], one: 1 });
}
