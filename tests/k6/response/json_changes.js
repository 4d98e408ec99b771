// The object of json() is the same each time.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  const first = r.json();
  first.id = 99;
  console.log(r.json().id, r.json('id'));
}
