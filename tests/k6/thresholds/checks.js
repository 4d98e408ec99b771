// Sub-metrics by the name of a check.
import { check } from 'k6';

export const options = { thresholds: { 'checks{check:first}': ['rate==1'], 'checks{check:second}': ['rate<0.5'] } };

export default function () {
  check(1, { first: () => true, second: () => false });
}
