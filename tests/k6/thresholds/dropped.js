// Iterations that were dropped.
// skips: requests metrics
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: { executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 1, maxVUs: 1, gracefulStop: '3s' },
  },
  thresholds: { dropped_iterations: ['count>3'] },
};

export default function () {
  sleep(0.5);
}
