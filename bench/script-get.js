// A script as most scripts are: one GET and two checks.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const res = http.get(__ENV.URL);
  check(res, { 'status is 200': (r) => r.status === 200, 'has a body': (r) => r.body.length > 10 });
}
