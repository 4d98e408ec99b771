//! `k6/encoding`, `k6/crypto`, and `crypto.subtle`, compared with published test vectors.

use super::lines::lines;

#[test]
fn encodes_base64_in_all_alphabets() {
    let body = "const e = m0.default; const b = new Uint8Array([251, 255, 1, 2]).buffer; \
                console.log(e.b64encode(b), e.b64encode(b, 'rawstd'), e.b64encode(b, 'url'), e.b64encode(b, \
                'rawurl')); \
                console.log(e.b64encode('hé'), e.b64decode('aMOp', 'std', 's'), new \
                Uint8Array(e.b64decode('-_8', 'rawurl')).join()); \
                try { e.b64decode('!', 'std') } catch (x) { console.log(x.message.split(':')[0]) } \
                try { e.b64encode('a', 'hex') } catch (x) { console.log(x.message) }";
    assert_eq!(
        lines(&["k6/encoding"], body),
        [
            "+/8BAg== +/8BAg -_8BAg== -_8BAg",
            "aMOp hé 251,255",
            "invalid base64",
            "unknown base64 encoding `hex`",
        ]
    );
}

#[test]
fn hashes_as_the_standards_say() {
    // RFC 1320, RFC 1321, FIPS 180-4, and the publication of RIPEMD-160: the hash of `abc`.
    let body = "const c = m0.default; \
                for (const name of ['md4', 'md5', 'sha1', 'sha256', 'ripemd160']) console.log(c[name]('abc', \
                'hex')); \
                console.log(c.sha384('abc', 'hex').slice(0, 16), c.sha512('abc', 'hex').slice(0, 16), \
                  c.sha512_224('abc', 'hex').slice(0, 16), c.sha512_256('abc', 'hex').slice(0, 16)); \
                console.log(c.md5('abc', 'base64'), c.md5('abc', 'base64rawurl'), new Uint8Array(c.md5('abc', \
                'binary')).length);";
    assert_eq!(
        lines(&["k6/crypto"], body),
        [
            "a448017aaf21d8525fc10ae87aa6729d",
            "900150983cd24fb0d6963f7d28e17f72",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
            "cb00753f45a35e8b ddaf35a193617aba 4634270f707b6a54 53048e2681941ef9",
            "kAFQmDzST7DWlj99KOF/cg== kAFQmDzST7DWlj99KOF_cg 16",
        ]
    );
}

#[test]
fn computes_codes_and_hashes_in_parts() {
    // RFC 4231 section 4.3 (test case 2).
    let body = "const c = m0.default, text = 'what do ya want for nothing?'; \
                console.log(c.hmac('sha256', 'Jefe', text, 'hex')); \
                console.log(c.hmac('sha512', 'Jefe', text, 'hex').slice(0, 32)); \
                const h = c.createHMAC('sha256', 'Jefe'); h.update('what do ya '); h.update('want for nothing?'); \
                console.log(h.digest('hex') === c.hmac('sha256', 'Jefe', text, 'hex')); \
                const s = c.createHash('sha1'); s.update('a'); s.update(new Uint8Array([98, 99]).buffer); \
                console.log(s.digest('hex'), s.digest('hex') === c.sha1('abc', 'hex')); \
                console.log(c.hexEncode(new Uint8Array([1, 255]).buffer), c.randomBytes(9).byteLength); \
                try { c.createHash('crc32') } catch (e) { console.log(e.message) } \
                try { c.md5('a', 'octal') } catch (e) { console.log(e.message) }";
    assert_eq!(
        lines(&["k6/crypto"], body),
        [
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "164b7a7bfcf819e2e395fbe73b56e0a3",
            "true",
            "a9993e364706816aba3e25717850c26c9cd0d89d true",
            "01ff 9",
            "unknown hash algorithm `crc32`",
            "unknown encoding of a hash `octal`",
        ]
    );
}

const HEX: &str = "const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (two) => parseInt(two, 16)); \
                   const hex = (data) => [...new Uint8Array(data)].map((one) => one.toString(16).padStart(2, \
                   '0')).join(''); \
                   const subtle = crypto.subtle, text = (t) => new TextEncoder().encode(t);";

#[test]
fn signs_and_derives_with_web_cryptography() {
    let body = "console.log(hex(await subtle.digest('SHA-1', text('abc')))); \
                const key = await subtle.importKey('raw', text('Jefe'), { name: 'HMAC', hash: 'SHA-256' }, \
                false, ['sign', 'verify']); \
                const code = await subtle.sign('HMAC', key, text('what do ya want for nothing?')); \
                console.log(hex(code).slice(0, 16), await subtle.verify('HMAC', key, code, text('what do ya want \
                for nothing?')), \
                  await subtle.verify('HMAC', key, code, text('else'))); \
                const password = await subtle.importKey('raw', text('password'), 'PBKDF2', false, ['deriveBits']); \
                const derive = { name: 'PBKDF2', hash: 'SHA-1', salt: text('salt'), iterations: 2 }; \
                console.log(hex(await subtle.deriveBits(derive, password, 160))); \
                const made = await subtle.generateKey({ name: 'HMAC', hash: { name: 'SHA-256' } }, true, ['sign']); \
                console.log((await subtle.exportKey('raw', made)).byteLength, (await subtle.exportKey('jwk', \
                made)).alg); \
                for (const wrong of [() => subtle.digest('MD5', text('')), () => subtle.exportKey('raw', key), \
                  () => subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']), () => \
                  subtle.sign('HMAC', made, 'x')]) \
                  await wrong().catch((e) => console.log(e.name + ': ' + e.message));";
    // RFC 6070, test 2, for PBKDF2.
    assert_eq!(
        lines(&[], &format!("{HEX} {body}")),
        [
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "5bdcc146bf60754e true false",
            "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957",
            "64 HS256",
            "NotSupportedError: the hash `MD5` is not supported",
            "InvalidAccessError: the key must not be exported",
            "NotSupportedError: a new key of `ECDSA` is not supported",
            "TypeError: an ArrayBuffer or a view of one is required",
        ]
    );
}

#[test]
fn encrypts_with_aes() {
    // NIST SP 800-38A, F.2.1 and F.5.1 (first block), and test case 2 of the specification of GCM.
    let body = "const key = (name, k) => subtle.importKey('raw', bytes(k), name, false, ['encrypt', 'decrypt']); \
                const k = '2b7e151628aed2a6abf7158809cf4f3c', block = bytes('6bc1bee22e409f96e93d7e117393172a'); \
                const cbc = { name: 'AES-CBC', iv: bytes('000102030405060708090a0b0c0d0e0f') }; \
                const one = await subtle.encrypt(cbc, await key('AES-CBC', k), block); \
                console.log(hex(one).slice(0, 32), hex(await subtle.decrypt(cbc, await key('AES-CBC', k), one)) \
                === hex(block)); \
                const ctr = { name: 'AES-CTR', counter: bytes('f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff'), length: 64 }; \
                const two = await subtle.encrypt(ctr, await key('AES-CTR', k), block); \
                console.log(hex(two), hex(await subtle.decrypt(ctr, await key('AES-CTR', k), two)) === hex(block)); \
                const zero = await key('AES-GCM', '00'.repeat(16)), gcm = { name: 'AES-GCM', iv: new \
                Uint8Array(12) }; \
                const three = await subtle.encrypt(gcm, zero, new Uint8Array(16)); console.log(hex(three)); \
                console.log(hex(await subtle.decrypt(gcm, zero, three)) === '00'.repeat(16)); \
                await subtle.decrypt({ ...gcm, additionalData: text('x') }, zero, three).catch((e) => \
                console.log(e.message));";
    assert_eq!(
        lines(&[], &format!("{HEX} {body}")),
        [
            "7649abac8119b246cee98e9b12e9197d true",
            "874d6191b620e3261bef6864990db6ce true",
            "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf",
            "true",
            "OperationError: the data cannot be decrypted with this key",
        ]
    );
}
