// Random bytes and UUIDs.
import { randomBytes } from 'k6/crypto';

export default function () {
  const bytes = randomBytes(16);
  console.log(bytes instanceof ArrayBuffer, bytes.byteLength);
  console.log(crypto.randomUUID().length, crypto.getRandomValues(new Uint8Array(8)).length);
}
