// Exports in their other forms.
const options = { vus: 1, iterations: 2 };
function run() {
  console.log('run');
}
export { options, run as default };
