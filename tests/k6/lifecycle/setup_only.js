// A script with setup() and teardown() of several users.
// differs: metrics setup-apart
import http from 'k6/http';

export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };

export function setup() {
  return { started: 1 };
}
export default function (data) {
  http.get(`${__ENV.BASE}/echo?data=${data.started}`, { headers: { 'X-Vu': `${__VU}` } });
  data.started += __VU * 10;
}
export function teardown(data) {
  http.get(`${__ENV.BASE}/echo?end=${data.started}`);
}
