// Options that are not an object.
export const options = 'text';

export default function () {
  console.log('runs');
}
