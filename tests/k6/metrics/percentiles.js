// Percentiles are interpolated.
import { Trend } from 'k6/metrics';

const trend = new Trend('numbers');
export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'count'],
  thresholds: { numbers: ['p(50)==5.5', 'p(90)<9.2', 'p(90)>9', 'p(0)==1', 'p(100)==10', 'p(99.9)<10'] },
};

export default function () {
  for (let n = 1; n <= 10; n++) trend.add(n);
}
