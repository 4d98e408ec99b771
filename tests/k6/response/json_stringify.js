// A response as JSON.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/status/200`);
  const copy = JSON.parse(JSON.stringify(r));
  console.log(copy.status, copy.body, copy.request.method, Object.keys(copy).length > 10);
  const spread = { ...r };
  console.log(spread.status, spread.body);
  const { status, body } = r;
  console.log(status, body, 'status' in r, r.hasOwnProperty('body'));
  for (const key in r) if (key === 'timings') console.log('timings are listed');
}
