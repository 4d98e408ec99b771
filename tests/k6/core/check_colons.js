// A name with two colons is refused.
import { check } from 'k6';

export default function () {
  try {
    check(1, { 'a::b': () => true });
    console.log('accepted');
  } catch (e) {
    console.log('refused');
  }
}
