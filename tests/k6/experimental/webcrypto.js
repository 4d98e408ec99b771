// The older name of webcrypto, which k6 v2 has no more.
// differs: exit removed-in-v2
// differs: checks removed-in-v2
// differs: metrics removed-in-v2
// differs: keys removed-in-v2
// differs: console removed-in-v2
// differs: errors removed-in-v2
import { crypto } from 'k6/experimental/webcrypto';

export default async function () {
  console.log((await crypto.subtle.digest('SHA-256', new Uint8Array([1]))).byteLength);
}
