// A name with a space is an error.
// differs: errors init-errors
import { Counter } from 'k6/metrics';

new Counter('not allowed');

export default function () {}
