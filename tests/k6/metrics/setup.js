// Values of setup and teardown count.
// differs: metrics setup-apart
// differs: keys setup-apart
// differs: thresholds setup-apart
// differs: exit setup-apart
import { Counter } from 'k6/metrics';

const counter = new Counter('everywhere');
export const options = { vus: 1, iterations: 2, thresholds: { everywhere: ['count==111'] } };

export function setup() {
  counter.add(1);
}
export default function () {
  counter.add(5);
}
export function teardown() {
  counter.add(100);
}
