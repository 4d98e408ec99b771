// A trend of times.
import { Trend } from 'k6/metrics';

const trend = new Trend('waiting_time', true);
export const options = { thresholds: { waiting_time: ['avg<200', 'med==100', 'p(90)<300', 'min>=50', 'max==250'] } };

export default function () {
  for (const value of [50, 100, 250]) trend.add(value);
}
