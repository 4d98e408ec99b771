(function (exports, require, native) {
  'use strict';
  // Web Cryptography: hashes, HMAC, AES, and PBKDF2.
  function failure(name, message) {
    const error = new Error(message);
    error.name = name;
    return error;
  }
  const unsupported = (what) => failure('NotSupportedError', `${what} is not supported`);

  const HASHES = { 'SHA-1': 'sha1', 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' };
  const nameOf = (algorithm) => String(typeof algorithm === 'object' ? algorithm.name : algorithm).toUpperCase();
  function hashOf(algorithm) {
    const hash = HASHES[nameOf(algorithm)];
    if (hash === undefined) throw unsupported(`the hash \`${nameOf(algorithm)}\``);
    return hash;
  }
  function bytesOf(data) {
    if (data instanceof ArrayBuffer) return new Uint8Array(data).slice();
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
    throw new TypeError('an ArrayBuffer or a view of one is required');
  }
  const AES = { 'AES-CBC': 'cbc', 'AES-CTR': 'ctr', 'AES-GCM': 'gcm' };
  const known = (name) => name === 'HMAC' || name === 'PBKDF2' || Object.hasOwn(AES, name);

  const secrets = new WeakMap();
  class CryptoKey {
    constructor(secret, algorithm, isExtractable, usages) {
      secrets.set(this, secret);
      this.type = 'secret';
      this.algorithm = algorithm;
      this.extractable = Boolean(isExtractable);
      this.usages = [...usages];
      Object.freeze(this);
    }
  }
  function secretOf(key, name, usage) {
    if (!(key instanceof CryptoKey)) throw new TypeError('a CryptoKey is required');
    if (key.algorithm.name !== name) throw failure('InvalidAccessError', `the key is for ${key.algorithm.name}`);
    if (!key.usages.includes(usage)) throw failure('InvalidAccessError', `the key must not be used to ${usage}`);
    return secrets.get(key);
  }

  function keyOf(bytes, algorithm, isExtractable, usages) {
    const name = nameOf(algorithm);
    if (!known(name)) throw unsupported(`the algorithm \`${name}\``);
    const of = { name };
    if (name === 'HMAC') {
      of.hash = { name: nameOf(algorithm.hash) };
      hashOf(of.hash);
      of.length = bytes.length * 8;
    } else if (name !== 'PBKDF2') {
      if (![16, 24, 32].includes(bytes.length)) throw failure('DataError', 'an AES key has 128, 192, or 256 bits');
      of.length = bytes.length * 8;
    }
    return new CryptoKey(bytes, of, isExtractable, usages);
  }

  function cipher(encrypts, algorithm, key, data) {
    const name = nameOf(algorithm);
    if (!Object.hasOwn(AES, name)) throw unsupported(`encryption with \`${name}\``);
    const secret = secretOf(key, name, encrypts ? 'encrypt' : 'decrypt');
    const input = bytesOf(data);
    if (name === 'AES-CTR') {
      const counter = bytesOf(algorithm.counter);
      if (counter.length !== 16) throw failure('OperationError', 'the counter must have 16 bytes');
      const bits = algorithm.length;
      if (!(bits >= 1 && bits <= 128))
        throw failure('OperationError', 'the length of the counter must be 1 to 128 bits');
      const value = BigInt(`0x${native.hex(counter)}`) % (1n << BigInt(bits));
      if (value + BigInt(Math.ceil(input.length / 16)) > 1n << BigInt(bits)) throw unsupported('a counter that wraps');
      return native.aes('ctr', encrypts, secret, counter, input, '');
    }
    const iv = bytesOf(algorithm.iv);
    if (name === 'AES-CBC') {
      if (iv.length !== 16) throw failure('OperationError', 'the initialization vector must have 16 bytes');
      return native.aes('cbc', encrypts, secret, iv, input, '');
    }
    if (iv.length !== 12) throw unsupported('AES-GCM with an initialization vector of other than 12 bytes');
    if ((algorithm.tagLength ?? 128) !== 128) throw unsupported('AES-GCM with a tag of other than 128 bits');
    const more = algorithm.additionalData === undefined ? '' : bytesOf(algorithm.additionalData);
    return native.aes('gcm', encrypts, secret, iv, input, more);
  }

  function derived(algorithm, key, bits, usage) {
    if (nameOf(algorithm) !== 'PBKDF2') throw unsupported(`deriving with \`${nameOf(algorithm)}\``);
    if (!(bits > 0) || bits % 8 !== 0) throw failure('OperationError', 'the length must be a multiple of 8 bits');
    const secret = secretOf(key, 'PBKDF2', usage);
    return native.pbkdf2(hashOf(algorithm.hash), secret, bytesOf(algorithm.salt), algorithm.iterations, bits / 8);
  }

  const DEFAULT_HMAC_BITS = { sha1: 512, sha256: 512, sha384: 1024, sha512: 1024 };
  function bitsOf(algorithm) {
    const bits = algorithm.length ?? (nameOf(algorithm) === 'HMAC' ? DEFAULT_HMAC_BITS[hashOf(algorithm.hash)] : 0);
    if (!(bits > 0) || bits % 8 !== 0) throw failure('OperationError', 'invalid length of a key');
    return bits;
  }

  const B64 = { alg: { 'HMAC sha1': 'HS1', 'HMAC sha256': 'HS256', 'HMAC sha384': 'HS384', 'HMAC sha512': 'HS512' } };
  function exported(format, key) {
    if (!key.extractable) throw failure('InvalidAccessError', 'the key must not be exported');
    const secret = secrets.get(key);
    if (format === 'raw') return secret.buffer.slice(0);
    if (format !== 'jwk') throw unsupported(`the format \`${format}\``);
    const { name, hash, length } = key.algorithm;
    const alg = name === 'HMAC' ? B64.alg[`HMAC ${hashOf(hash)}`] : `A${length}${name.slice(4)}`;
    return { kty: 'oct', k: native.base64(secret, 'rawurl'), alg, ext: true, key_ops: [...key.usages] };
  }

  const subtle = {
    async digest(algorithm, data) {
      return native.hash(hashOf(algorithm), bytesOf(data));
    },
    async importKey(format, data, algorithm, isExtractable, usages) {
      if (format === 'raw') return keyOf(bytesOf(data), algorithm, isExtractable, usages);
      if (format !== 'jwk') throw unsupported(`the format \`${format}\``);
      if (data.kty !== 'oct') throw unsupported(`a key of type \`${data.kty}\``);
      return keyOf(new Uint8Array(native.unbase64(data.k, 'rawurl')), algorithm, isExtractable, usages);
    },
    async exportKey(format, key) {
      return exported(format, key);
    },
    async generateKey(algorithm, isExtractable, usages) {
      const name = nameOf(algorithm);
      if (name === 'PBKDF2' || !known(name)) throw unsupported(`a new key of \`${name}\``);
      return keyOf(new Uint8Array(native.randomBytes(bitsOf(algorithm) / 8)), algorithm, isExtractable, usages);
    },
    async sign(algorithm, key, data) {
      if (nameOf(algorithm) !== 'HMAC') throw unsupported(`signing with \`${nameOf(algorithm)}\``);
      return native.hmac(hashOf(key.algorithm.hash), secretOf(key, 'HMAC', 'sign'), bytesOf(data));
    },
    async verify(algorithm, key, signature, data) {
      if (nameOf(algorithm) !== 'HMAC') throw unsupported(`verifying with \`${nameOf(algorithm)}\``);
      const code = native.hmac(hashOf(key.algorithm.hash), secretOf(key, 'HMAC', 'verify'), bytesOf(data));
      return native.hex(code) === native.hex(bytesOf(signature));
    },
    async encrypt(algorithm, key, data) {
      return cipher(true, algorithm, key, data);
    },
    async decrypt(algorithm, key, data) {
      return cipher(false, algorithm, key, data);
    },
    async deriveBits(algorithm, key, bits) {
      return derived(algorithm, key, bits, 'deriveBits');
    },
    async deriveKey(algorithm, key, of, isExtractable, usages) {
      const bytes = new Uint8Array(derived(algorithm, key, bitsOf(of), 'deriveKey'));
      return keyOf(bytes, of, isExtractable, usages);
    },
    async wrapKey() {
      throw unsupported('crypto.subtle.wrapKey');
    },
    async unwrapKey() {
      throw unsupported('crypto.subtle.unwrapKey');
    },
  };

  const RANDOM_BYTES_MAX = 65536;
  exports.crypto = {
    subtle,
    getRandomValues(view) {
      if (
        !ArrayBuffer.isView(view) ||
        view instanceof DataView ||
        view instanceof Float32Array ||
        view instanceof Float64Array
      ) {
        throw failure('TypeMismatchError', 'getRandomValues() requires an array of integers');
      }
      if (view.byteLength > RANDOM_BYTES_MAX) {
        throw failure('QuotaExceededError', `getRandomValues() fills at most ${RANDOM_BYTES_MAX} bytes`);
      }
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(
        new Uint8Array(native.randomBytes(view.byteLength)),
      );
      return view;
    },
    randomUUID() {
      const bytes = new Uint8Array(native.randomBytes(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      return native.hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
  exports.CryptoKey = CryptoKey;
  exports.default = { crypto: exports.crypto };
})
