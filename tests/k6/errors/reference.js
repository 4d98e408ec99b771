// Errors of the language: names that do not exist, and undefined values.
// differs: exit iterations-throw
export const options = { vus: 1, iterations: 3 };

export default function () {
  if (__ITER === 0) missing();
  if (__ITER === 1) undefined.field;
  const nothing = null;
  nothing.call();
}
