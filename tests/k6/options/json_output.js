// --out json: samples as lines.
// differs: exit unsupported
// differs: requests unsupported
// differs: checks unsupported
// differs: metrics unsupported
// differs: keys unsupported
// skips: output
// flags: --out json=samples.json
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`, { tags: { own: 'x' } });
}
