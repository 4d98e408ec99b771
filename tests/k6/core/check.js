// Checks: names, values, and what they return.
import { check } from 'k6';

export default function () {
  console.log(check(5, { 'is five': (n) => n === 5, 'is positive': (n) => n > 0 }));
  console.log(check(5, { 'is five': (n) => n === 5, 'is six': (n) => n === 6 }));
  console.log(check(null, { 'a constant': true, 'another': false, 'zero': 0, 'text': 'x', 'nothing': null }));
  console.log(check({ a: 1 }, {}), check(undefined, { 'no value': (v) => v === undefined }));
  console.log(check('x', { 'truthy text': () => 'yes', 'an empty text': () => '', 'a number': () => 1 }));
}
