// The option --local-ips.
// flags: --local-ips=127.0.0.1
import http from 'k6/http';

export default function () {
  console.log(http.get(`${__ENV.BASE}/status/200`).status);
}
