// An array of objects from a file, in all users the same.
import { SharedArray } from 'k6/data';

const rows = new SharedArray('rows', function () {
  return open('./lib/users.csv').trim().split('\n').slice(1).map((line) => {
    const [name, age] = line.split(',');
    return { name, age: Number(age) };
  });
});

export default function () {
  rows.forEach((row, n) => console.log(n, row.name, row.age));
}
