// Short flags.
// flags: -u 2 -i 4
export default function () {
  console.log('iteration');
}
