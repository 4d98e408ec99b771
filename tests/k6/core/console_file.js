// --console-output writes to a file instead.
// flags: --console-output=console.txt --log-format=raw
export default function () {
  console.log('in the file');
  console.warn('a warning');
}
