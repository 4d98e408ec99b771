// A check whose function is async.
// differs: exit iterations-throw
// differs: errors sentences
import { check } from 'k6';

export default async function () {
  const result = check(1, { 'async': async () => false });
  console.log(typeof result, result);
}
