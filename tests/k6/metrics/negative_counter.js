// A counter that is reduced.
// differs: metrics negative-values
import { Counter } from 'k6/metrics';

const counter = new Counter('up_and_down');

export default function () {
  counter.add(5);
  counter.add(-2);
}
