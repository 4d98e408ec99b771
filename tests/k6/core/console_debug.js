// Debug messages are shown with --verbose only.
export default function () {
  console.debug('hidden');
  console.log('shown');
}
