// fail() in setup().
// differs: checks no-summary
// differs: metrics no-summary
// differs: keys no-summary
import { fail } from 'k6';

export function setup() {
  fail('not ready');
}
export default function () {
  console.log('never');
}
