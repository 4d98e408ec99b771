// What is thrown in a group leaves it, and counts its duration.
import { group, check } from 'k6';

export default function () {
  try {
    group('broken', () => {
      throw new Error('inside');
    });
  } catch (e) {
    console.log(e.message);
  }
  check(1, { 'in the root again': () => true });
  try {
    group('a::b', () => {});
    console.log('accepted');
  } catch (e) {
    console.log('refused');
  }
  try {
    group('no function');
  } catch (e) {
    console.log('no function');
  }
}
