// What can be done with a SharedArray.
import { SharedArray } from 'k6/data';

const list = new SharedArray('list', () => [{ n: 1 }, { n: 2 }, { n: 3 }]);

export default function () {
  console.log(list.length, list[0].n, list[5], list.at ? list.at(-1).n : 'none');
  console.log(list.map((one) => one.n).join(), list.filter((one) => one.n > 1).length);
  let sum = 0;
  for (const one of list) sum += one.n;
  console.log(sum, [...list].length, JSON.stringify(list), Object.keys(list).join());
  for (const attempt of [() => (list[0] = 5), () => (list[0].n = 9), () => list.push(1)]) {
    try {
      attempt();
      console.log('done', list[0].n, list.length);
    } catch (e) {
      console.log('exception', e.name);
    }
  }
}
