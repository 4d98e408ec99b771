// No text at the end.
// text: compared
// flags: --summary-mode=disabled
export default function () {}
