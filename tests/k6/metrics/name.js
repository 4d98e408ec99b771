// The name of a metric, and one that exists already.
import { Counter, Trend } from 'k6/metrics';

const one = new Counter('same');
const two = new Counter('same');

export default function () {
  console.log(one.name, two.name);
  one.add(1);
  two.add(1);
  try {
    new Counter('late');
  } catch (e) {
    console.log('only in the init context');
  }
}
