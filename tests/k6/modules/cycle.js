// Modules that import each other.
import { even } from './lib/even.js';

export default function () {
  console.log(even(4), even(7));
}
