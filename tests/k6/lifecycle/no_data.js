// setup() that returns nothing.
export function setup() {}
export default function (data) {
  console.log(JSON.stringify(data), data === undefined, data === null);
}
export function teardown(data) {
  console.log(JSON.stringify(data), data === undefined, data === null);
}
