// Metrics without values.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

new Counter('unused_counter');
new Gauge('unused_gauge');
new Rate('unused_rate');
new Trend('unused_trend');

export const options = {
  thresholds: { unused_counter: ['count==0'], unused_rate: ['rate<0.5'], unused_trend: ['p(95)<1'], unused_gauge: ['value==0'] },
};

export default function () {}
