// handleSummary() with bytes and numbers.
export default function () {}
export function handleSummary() {
  return { 'bytes.bin': new Uint8Array([104, 105]).buffer, 'text.txt': 'text' };
}
