// --no-setup and --no-teardown.
// flags: --no-setup --no-teardown
export function setup() {
  console.log('setup');
  return 1;
}
export default function (data) {
  console.log('default', data);
}
export function teardown() {
  console.log('teardown');
}
