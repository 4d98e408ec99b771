// A trend with negative values.
// differs: metrics negative-values
import { Trend } from 'k6/metrics';

const trend = new Trend('below_zero');

export default function () {
  trend.add(-5);
  trend.add(5);
}
