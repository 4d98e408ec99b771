// --out json: samples as lines.
// skips: output
// flags: --out json=samples.json
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`, { tags: { own: 'x' } });
}
