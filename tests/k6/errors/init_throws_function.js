// An exception in a function that the init part calls.
// differs: errors init-errors
function load() {
  throw new Error('no settings');
}
load();

export default function () {}
