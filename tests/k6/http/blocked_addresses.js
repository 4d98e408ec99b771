// The option blacklistIPs.
// differs: metrics no-duration
// differs: keys no-duration
import http from 'k6/http';

export const options = { blacklistIPs: ['127.0.0.0/8'] };

export default function () {
  const response = http.get(`${__ENV.BASE}/status/200`);
  console.log(response.status, response.error_code);
}
