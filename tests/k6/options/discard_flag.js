// --discard-response-bodies.
// flags: --discard-response-bodies
import http from 'k6/http';

export default function () {
  console.log(http.get(`${__ENV.BASE}/text`).body);
}
