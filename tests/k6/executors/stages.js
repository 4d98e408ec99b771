// Stages as a shortcut.
// skips: metrics
import { sleep } from 'k6';

export const options = {
  stages: [{ duration: '1s', target: 2 }, { duration: '1s', target: 2 }],
  thresholds: { iterations: ['count>=8', 'count<=24'] },
};

export default function () {
  sleep(0.2);
}
