// Users that come and go.
// skips: metrics
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: {
      executor: 'ramping-vus',
      startVUs: 1,
      stages: [{ duration: '1s', target: 3 }, { duration: '1s', target: 0 }],
      gracefulRampDown: '1s',
      gracefulStop: '1s',
    },
  },
  thresholds: { iterations: ['count>=8', 'count<=22'], vus_max: ['value==3'] },
};

export default function () {
  sleep(0.2);
}
