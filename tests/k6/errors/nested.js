// The place of an exception in a function of a function.
// differs: exit iterations-throw
function inner(n) {
  if (n === 0) {
    throw new Error('deep inside');
  }
  inner(n - 1);
}

export default function () {
  inner(3);
}
