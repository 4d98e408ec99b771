// test.abort() in setup().
// differs: checks no-summary
// differs: metrics no-summary
// differs: keys no-summary
import exec from 'k6/execution';

export function setup() {
  exec.test.abort('not now');
}
export default function () {
  console.log('never');
}
export function teardown() {
  console.log('teardown');
}
