// Very large, very small, and negative values.
import { Counter, Gauge, Trend } from 'k6/metrics';

const trend = new Trend('wide');
const counter = new Counter('large');
const gauge = new Gauge('small');

export default function () {
  trend.add(1e9);
  trend.add(0.001);
  trend.add(0);
  counter.add(1e12);
  gauge.add(1e-6);
}
