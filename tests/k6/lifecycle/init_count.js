// The init part runs for each user.
console.log('init', __VU);

export const options = { vus: 1, iterations: 2 };

export default function () {
  console.log('iteration', __ITER);
}
