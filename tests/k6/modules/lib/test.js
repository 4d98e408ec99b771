export const options = { vus: 1, iterations: 2 };
export function setup() {
  return 'from setup';
}
export default function (data) {
  console.log(data);
}
