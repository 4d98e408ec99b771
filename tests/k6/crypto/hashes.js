// Hashes in all encodings.
import crypto from 'k6/crypto';
import { md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256, ripemd160 } from 'k6/crypto';

export default function () {
  for (const hash of [md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256, ripemd160]) {
    console.log(hash('text', 'hex'));
  }
  for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl']) console.log(crypto.sha256('text', encoding));
  console.log(new Uint8Array(crypto.md5('text', 'binary')).join());
  console.log(crypto.sha1(new Uint8Array([1, 2, 3]).buffer, 'hex'));
}
