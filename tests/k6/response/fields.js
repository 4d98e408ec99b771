// Every property of a response.
// differs: console getters
import http from 'k6/http';

export default function () {
  const r = http.post(`${__ENV.BASE}/headers?X-Server=one&X-Multi=a`, 'sent', { headers: { 'X-Client': 'c' } });
  console.log(Object.keys(r).sort().join());
  console.log(r.status, r.status_text, r.url === `${__ENV.BASE}/headers?X-Server=one&X-Multi=a`);
  console.log(r.proto, r.remote_ip, r.remote_port === Number(__ENV.HOST.split(':')[1]));
  console.log(r.headers['X-Server'], r.headers['x-server'], r.headers['X-Multi']);
  console.log(JSON.stringify(r.error), r.error_code, r.body);
  console.log(JSON.stringify(r.tls_version), JSON.stringify(r.tls_cipher_suite), JSON.stringify(r.ocsp));
  console.log(JSON.stringify(Object.keys(r.timings).sort()));
  console.log(Object.values(r.timings).every((n) => typeof n === 'number' && n >= 0));
  console.log(r.timings.duration > 0, r.timings.waiting > 0, r.timings.looking_up);
}
