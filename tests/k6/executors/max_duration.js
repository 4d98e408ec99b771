// Iterations that maxDuration cuts off are dropped: their number depends on time.
// skips: metrics
import { sleep } from 'k6';

export const options = {
  scenarios: { a: { executor: 'shared-iterations', vus: 1, iterations: 100, maxDuration: '1s', gracefulStop: '2s' } },
  thresholds: { dropped_iterations: ['count>90'], iterations: ['count<6'] },
};

export default function () {
  sleep(0.4);
}
