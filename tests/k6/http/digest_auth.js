// A digest challenge is answered; the request that was refused counts as well.
// differs: requests digest-password
import http from 'k6/http';

export const options = { thresholds: { http_reqs: ['count==2'] } };

export default function () {
  const url = `${__ENV.BASE}/digest?x=1`.replace('http://', 'http://user:pass@');
  const response = http.get(url, { auth: 'digest' });
  console.log(response.status, JSON.stringify(response.json()));
}
