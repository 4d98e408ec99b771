// HMACs.
import crypto from 'k6/crypto';

export default function () {
  for (const kind of ['md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) {
    console.log(kind, crypto.hmac(kind, 'key', 'text', 'hex'));
  }
  const hmac = crypto.createHMAC('sha256', 'key');
  hmac.update('te');
  hmac.update('xt');
  console.log(hmac.digest('hex'), hmac.digest('base64'));
  const hash = crypto.createHash('sha256');
  hash.update('text');
  console.log(hash.digest('hex'));
  try {
    crypto.hmac('unknown', 'key', 'text', 'hex');
  } catch (e) {
    console.log('exception');
  }
}
