// Tags of checks, and thresholds on them.
import { check } from 'k6';

export const options = {
  thresholds: { 'checks{kind:good}': ['rate==1'], 'checks{kind:bad}': ['rate==0'], checks: ['rate==0.5'] },
};

export default function () {
  check(1, { 'is one': (n) => n === 1 }, { kind: 'good' });
  check(1, { 'is two': (n) => n === 2 }, { kind: 'bad' });
}
