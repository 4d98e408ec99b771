// A check that throws ends the iteration.
// differs: exit iterations-throw
import { check } from 'k6';

export const options = { vus: 1, iterations: 2 };

export default function () {
  check(null, { 'before': () => true });
  check(null, { 'throws': (v) => v.missing.field === 1, 'after': () => true });
  console.log('never');
}
