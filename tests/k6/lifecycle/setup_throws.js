// An exception in setup() ends the test with its code; teardown is not called.
// differs: checks no-summary
// differs: metrics no-summary
// differs: keys no-summary
import http from 'k6/http';

export function setup() {
  throw new Error('setup is broken');
}
export default function () {
  http.get(`${__ENV.BASE}/never`);
}
export function teardown() {
  console.log('teardown');
}
