// The same name with another kind is an error.
// differs: errors init-errors
import { Counter, Trend } from 'k6/metrics';

new Counter('same');
new Trend('same');

export default function () {}
