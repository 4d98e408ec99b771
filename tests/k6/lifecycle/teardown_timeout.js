// teardown() that hangs: exit code 101.
import { sleep } from 'k6';

export const options = { teardownTimeout: '1s' };

export default function () {}
export function teardown() {
  sleep(30);
}
