// Parts of the language that scripts use.
const wait = async (value) => value;

function* numbers() {
  yield 1;
  yield* [2, 3];
}

export default async function () {
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  console.log(a, JSON.stringify(rest), [...numbers()].join(), [3, 1, 2].sort().join(), [1, [2, [3]]].flat(9).join());
  console.log(rest?.b ?? 'none', rest.missing?.deep ?? 'none', 2 ** 10, 1_000, 10n ** 20n);
  console.log('x'.padStart(3, '-'), 'a-b-c'.replaceAll('-', '+'), 'abc'.at(-1), Object.entries(rest).join('|'));
  console.log(/(?<year>\d{4})-(?<month>\d\d)/.exec('2024-05').groups.year, 'aXbX'.match(/X/g).length);
  console.log(await Promise.all([wait(1), wait(2)]).then((all) => all.join()), (await Promise.allSettled([wait(1)]))[0].status);
  console.log(new Date(Date.UTC(2024, 0, 31)).toISOString(), typeof Symbol.iterator, new Map([[1, 2]]).get(1));
  label: for (const x of [1, 2]) for (const y of [1, 2]) { if (y === 2) continue label; console.log(x, y); }
  console.log([1, 2, 3].includes(2), Array.from({ length: 3 }, (_, n) => n * n).join(), Number('0x10'), parseInt('12px', 10));
}
