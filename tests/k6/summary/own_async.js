// handleSummary() as an async function.
export default function () {}
export async function handleSummary() {
  return { stdout: 'async\n' };
}
