// All kinds of metrics.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('own_counter');
const gauge = new Gauge('own_gauge');
const rate = new Rate('own_rate');
const trend = new Trend('own_trend');
const times = new Trend('own_times', true);

export default function () {
  for (const n of [1, 2, 3]) {
    counter.add(n);
    gauge.add(n * 10);
    rate.add(n > 1);
    trend.add(n * 100);
    times.add(n * 1000);
  }
  counter.add(0.5);
  gauge.add(-4);
  rate.add(0);
  rate.add(true);
}
