// handleSummary() that throws: the usual text is printed.
// text: compared
export default function () {}
export function handleSummary() {
  throw new Error('no summary');
}
