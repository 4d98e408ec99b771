// webcrypto: digests, keys, signatures, and ciphers.
const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, '0')).join('');
const bytes = (text) => new Uint8Array(text.split('').map((c) => c.charCodeAt(0)));

export default async function () {
  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    console.log(name, hex(await crypto.subtle.digest(name, bytes('text'))));
  }
  const hmac = await crypto.subtle.importKey('raw', bytes('key'), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
  const signature = await crypto.subtle.sign('HMAC', hmac, bytes('text'));
  console.log(hex(signature), await crypto.subtle.verify('HMAC', hmac, signature, bytes('text')));
  const aes = await crypto.subtle.importKey('raw', bytes('0123456789abcdef'), 'AES-CBC', true, ['encrypt', 'decrypt']);
  const iv = bytes('fedcba9876543210');
  const secret = await crypto.subtle.encrypt({ name: 'AES-CBC', iv }, aes, bytes('hidden text'));
  console.log(hex(secret));
  const plain = await crypto.subtle.decrypt({ name: 'AES-CBC', iv }, aes, secret);
  console.log(String.fromCharCode(...new Uint8Array(plain)));
  console.log(aes.type, aes.extractable, aes.usages.join(), aes.algorithm.name, aes.algorithm.length);
  console.log(hex(await crypto.subtle.exportKey('raw', aes)));
}
