// Base64 in all variants.
import encoding from 'k6/encoding';
import { b64encode, b64decode } from 'k6/encoding';

export default function () {
  for (const kind of ['std', 'rawstd', 'url', 'rawurl']) {
    const text = encoding.b64encode('hellö wörld??>>', kind);
    console.log(kind, text, encoding.b64decode(text, kind, 's'));
  }
  console.log(b64encode('plain'), b64decode('cGxhaW4=', 'std', 's'));
  const bytes = b64decode('AAEC/w==');
  console.log(bytes instanceof ArrayBuffer, new Uint8Array(bytes).join());
  console.log(b64encode(new Uint8Array([0, 1, 2, 255]).buffer));
  try {
    b64decode('***');
  } catch (e) {
    console.log('exception');
  }
}
