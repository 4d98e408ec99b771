// setTimeout() and clearTimeout().
export default function () {
  setTimeout(() => console.log('second'), 60);
  setTimeout((a, b) => console.log('first', a, b), 20, 1, 'x');
  const never = setTimeout(() => console.log('never'), 40);
  clearTimeout(never);
  console.log('now', typeof never);
}
