// An exception in a timer ends the iteration.
// differs: exit iterations-throw
export const options = { vus: 1, iterations: 2 };

export default function () {
  setTimeout(() => {
    throw new Error('in a timer');
  }, 10);
  setTimeout(() => console.log('never'), 60);
}
