// Tags of values, and thresholds on them.
import { Counter, Rate, Trend } from 'k6/metrics';

const counter = new Counter('counted');
const rate = new Rate('rated');
const trend = new Trend('measured');

export const options = {
  thresholds: {
    'counted{kind:a}': ['count==3'],
    'counted{kind:b}': ['count==4'],
    'rated{kind:a}': ['rate==1'],
    'measured{kind:b,part:2}': ['avg==20', 'max<=20'],
    counted: ['count==7', 'rate>0'],
  },
};

export default function () {
  counter.add(1, { kind: 'a' });
  counter.add(2, { kind: 'a', part: '1' });
  counter.add(4, { kind: 'b' });
  rate.add(1, { kind: 'a' });
  rate.add(0, { kind: 'b' });
  trend.add(10, { kind: 'b', part: '1' });
  trend.add(20, { kind: 'b', part: '2' });
}
