// An unknown option is only a warning.
export const options = { vus: 1, iterations: 1, notAnOption: true, ext: { loadimpact: { name: 'x' } }, cloud: { name: 'y' } };

export default function () {
  console.log('runs');
}
