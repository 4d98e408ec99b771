// The text at the end: the usual one.
// text: compared
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('own_counter');
const gauge = new Gauge('own_gauge');
const rate = new Rate('own_rate');
const trend = new Trend('own_trend');
const times = new Trend('own_times', true);

export const options = {
  vus: 1,
  iterations: 4,
  thresholds: { http_req_duration: ['p(95)<5000', 'max<9000'], own_counter: ['count>100'], checks: ['rate>0.1'] },
};

export default function () {
  group('one', () => check(http.get(`${__ENV.BASE}/echo`), { 'is 200': (r) => r.status === 200 }));
  check(null, { sometimes: () => __ITER % 2 === 0 });
  counter.add(3);
  gauge.add(__ITER);
  rate.add(__ITER > 1);
  trend.add(10);
  times.add(1500);
}
