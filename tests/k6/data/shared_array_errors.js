// A SharedArray needs an array.
import { SharedArray } from 'k6/data';

for (const attempt of [() => new SharedArray('a', () => 5), () => new SharedArray('', () => []), () => new SharedArray('b')]) {
  try {
    attempt();
    console.log('accepted');
  } catch (e) {
    console.log('refused');
  }
}

export default function () {}
