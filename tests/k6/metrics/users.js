// Values of several users are added up.
import { Counter, Gauge, Rate } from 'k6/metrics';

const counter = new Counter('all_users');
const rate = new Rate('even');
export const options = {
  scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 5 } },
  thresholds: { all_users: ['count==50'], even: ['rate==0.5'] },
};

export default function () {
  counter.add(__VU);
  rate.add(__VU % 2 === 0);
}
