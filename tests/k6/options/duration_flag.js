// A duration as a flag.
// flags: -d 1s -u 1
// skips: metrics
import { sleep } from 'k6';

export const options = { iterations: 1, thresholds: { iterations: ['count>=3'] } };

export default function () {
  sleep(0.2);
}
