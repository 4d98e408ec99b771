// An exception in teardown().
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
export function teardown() {
  throw new Error('teardown is broken');
}
