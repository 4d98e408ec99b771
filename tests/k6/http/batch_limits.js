// A batch larger than its limits.
// order: any
import http from 'k6/http';

export const options = { batch: 5, batchPerHost: 2 };

export default function () {
  const all = Array.from({ length: 12 }, (_, n) => `${__ENV.BASE}/echo?n=${n}`);
  const responses = http.batch(all);
  console.log(responses.map((r) => r.json('query.n')).join());
}
