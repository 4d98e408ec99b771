// The text at the end of a test without requests.
// text: compared
export default function () {}
