// Users for a time.
// skips: metrics
import { sleep } from 'k6';

export const options = {
  scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '2s' } },
  thresholds: { iterations: ['count>=6', 'count<=12'], vus_max: ['value==2'] },
};

export default function () {
  sleep(0.25);
}
