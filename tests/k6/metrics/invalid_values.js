// Values that are not numbers.
import { Counter, Rate, Trend, Gauge } from 'k6/metrics';

const counter = new Counter('counter');
const trend = new Trend('trend');
const rate = new Rate('rate');
const gauge = new Gauge('gauge');

export default function () {
  for (const value of [NaN, 'text', undefined, null, {}, '5', true]) {
    let added = [];
    for (const metric of [counter, trend, rate, gauge]) {
      try {
        added.push(metric.add(value));
      } catch (e) {
        added.push('exception');
      }
    }
    console.log(JSON.stringify(value), added.join());
  }
}
