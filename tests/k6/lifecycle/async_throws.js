// A rejected promise is an exception of the iteration.
// differs: exit iterations-throw
export const options = { vus: 1, iterations: 2 };

export default async function () {
  await Promise.resolve();
  throw new Error('rejected');
}
