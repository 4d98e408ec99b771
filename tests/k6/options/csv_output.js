// --out csv: samples as rows.
// differs: exit unsupported
// differs: requests unsupported
// differs: checks unsupported
// differs: metrics unsupported
// differs: keys unsupported
// skips: output
// flags: --out csv=samples.csv
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
