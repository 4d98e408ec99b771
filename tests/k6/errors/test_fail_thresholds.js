// test.fail() and a threshold that is missed.
// differs: exit failed-first
import exec from 'k6/execution';

export const options = { thresholds: { iterations: ['count>5'] } };

export default function () {
  exec.test.fail('marked');
}
