// webcrypto: generated keys.
// differs: exit iterations-throw
// differs: errors sentences
// differs: console webcrypto-keys
export default async function () {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const data = new Uint8Array([1, 2, 3]);
  const secret = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, data);
  console.log(new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, secret)).join(), secret.byteLength);
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, data);
  console.log(signature.byteLength, await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, signature, data));
  try {
    await crypto.subtle.generateKey({ name: 'AES-GCM', length: 5 }, true, ['encrypt']);
  } catch (e) {
    console.log('exception');
  }
}
