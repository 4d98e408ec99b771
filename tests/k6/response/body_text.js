// Text in several alphabets, and bytes that are not UTF-8.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/text`);
  console.log(r.body, r.body.length);
  const bytes = http.get(`${__ENV.BASE}/bytes/4`);
  console.log(bytes.body.length);
}
