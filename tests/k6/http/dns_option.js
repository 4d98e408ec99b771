// The option dns.
import http from 'k6/http';

export const options = { dns: { ttl: '1m', select: 'first', policy: 'preferIPv4' } };

export default function () {
  const port = __ENV.HOST.split(':')[1];
  console.log(http.get(`http://localhost:${port}/status/200`).status);
}
