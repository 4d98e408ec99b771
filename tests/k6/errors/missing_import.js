// A file that does not exist.
import { a } from './missing.js';

export default function () {
  a();
}
