// Stages as flags.
// flags: -s 1s:2 -s 1s:0
// skips: metrics
import { sleep } from 'k6';

export const options = { thresholds: { vus_max: ['value==2'] } };

export default function () {
  sleep(0.2);
}
