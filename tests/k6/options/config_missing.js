// A configuration file that does not exist.
// flags: --config lib/none.json
export default function () {}
