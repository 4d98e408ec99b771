// The option blacklistIPs.
// differs: exit unsupported
// differs: checks unsupported
// differs: metrics unsupported
// differs: keys unsupported
// differs: console unsupported
import http from 'k6/http';

export const options = { blacklistIPs: ['127.0.0.0/8'] };

export default function () {
  const response = http.get(`${__ENV.BASE}/status/200`);
  console.log(response.status, response.error_code);
}
