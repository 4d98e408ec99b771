(function (exports, require, native) {
  'use strict';
  const ALGORITHMS = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

  function written(bytes, encoding) {
    switch (encoding) {
      case 'hex':
        return native.hex(bytes);
      case 'base64':
        return native.base64(bytes, 'std');
      case 'base64url':
        return native.base64(bytes, 'url');
      case 'base64rawurl':
        return native.base64(bytes, 'rawurl');
      case 'binary':
        return bytes;
      default:
        throw new TypeError(`unknown encoding of a hash \`${encoding}\``);
    }
  }

  const bytesOf = (data) => {
    if (typeof data === 'string') return new Uint8Array(native.utf8(data));
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (Array.isArray(data)) return Uint8Array.from(data);
    throw new TypeError('a hash requires a string, an ArrayBuffer, or an array of bytes');
  };

  class Hasher {
    #parts = [];
    #digest;
    constructor(digest) {
      this.#digest = digest;
    }
    update(data) {
      this.#parts.push(bytesOf(data).slice());
    }
    digest(encoding) {
      const all = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of this.#parts) {
        all.set(part, at);
        at += part.length;
      }
      this.#parts = [all];
      return written(this.#digest(all), encoding);
    }
  }

  function known(algorithm) {
    if (!ALGORITHMS.includes(algorithm)) throw new TypeError(`unknown hash algorithm \`${algorithm}\``);
    return algorithm;
  }

  for (const name of ALGORITHMS) {
    exports[name] = (data, encoding) => written(native.hash(name, bytesOf(data)), encoding);
  }
  exports.hmac = (algorithm, key, data, encoding) =>
    written(native.hmac(known(algorithm), bytesOf(key), bytesOf(data)), encoding);
  exports.createHash = (algorithm) => {
    known(algorithm);
    return new Hasher((data) => native.hash(algorithm, data));
  };
  exports.createHMAC = (algorithm, key) => {
    known(algorithm);
    const own = bytesOf(key).slice();
    return new Hasher((data) => native.hmac(algorithm, own, data));
  };
  exports.randomBytes = (count) => {
    if (!(count >= 1)) throw new RangeError('invalid number of random bytes');
    return native.randomBytes(count);
  };
  exports.hexEncode = (data) => native.hex(bytesOf(data));
  exports.default = { ...exports };
})
