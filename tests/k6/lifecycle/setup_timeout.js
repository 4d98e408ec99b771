// setup() that hangs: exit code 100.
// differs: checks no-summary
// differs: metrics no-summary
// differs: keys no-summary
import { sleep } from 'k6';

export const options = { setupTimeout: '1s' };

export function setup() {
  sleep(30);
}
export default function () {
  console.log('never');
}
