// --out csv: samples as rows.
// skips: output
// flags: --out csv=samples.csv
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
