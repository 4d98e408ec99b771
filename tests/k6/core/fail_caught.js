// fail() can be caught.
import { fail } from 'k6';

export default function () {
  try {
    fail('a reason');
  } catch (e) {
    console.log(e.message);
  }
}
