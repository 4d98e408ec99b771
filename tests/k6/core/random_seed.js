// randomSeed() makes numbers repeat.
import { randomSeed } from 'k6';

export default function () {
  randomSeed(7);
  const first = [Math.random(), Math.random()];
  randomSeed(7);
  const second = [Math.random(), Math.random()];
  console.log(first.join() === second.join(), first[0] >= 0 && first[0] < 1, first[0] !== first[1]);
}
