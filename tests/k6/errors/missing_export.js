// A name that a module does not export.
// differs: errors init-errors
import { missing } from './lib/math.js';

export default function () {
  missing();
}
