(function (exports, require, native) {
  'use strict';
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const STEP_S = 30;

  // Base32 (RFC 4648 section 6).
  function secretOf(text) {
    let [bits, value] = [0, 0];
    const bytes = [];
    for (const sign of String(text)
      .toUpperCase()
      .replace(/[\s=-]/g, '')) {
      const digit = ALPHABET.indexOf(sign);
      if (digit < 0) throw new Error(`invalid base32 secret: unexpected \`${sign}\``);
      value = (value << 5) | digit;
      bits += 5;
      if (bits >= 8) {
        bits -= 8;
        bytes.push((value >> bits) & 255);
        value &= (1 << bits) - 1;
      }
    }
    return Uint8Array.from(bytes);
  }

  // One-time passwords (RFC 6238, RFC 4226) with SHA-1 and steps of 30 s.
  exports.TOTP = class TOTP {
    #secret;
    #digits;
    constructor(secret, digits = 6) {
      if (![6, 7, 8].includes(digits)) throw new Error('a one-time password has 6, 7, or 8 digits');
      this.#secret = secretOf(secret);
      this.#digits = digits;
    }
    #code(counter) {
      const message = new DataView(new ArrayBuffer(8));
      message.setBigUint64(0, BigInt(counter));
      const code = new DataView(native.hmac('sha1', this.#secret, message.buffer));
      const number = code.getUint32(code.getUint8(19) & 15) & 0x7fffffff;
      return String(number % 10 ** this.#digits).padStart(this.#digits, '0');
    }
    async gen(offset = 0) {
      return this.#code(Math.floor(native.now() / 1000 / STEP_S) + offset);
    }
    async verify(code, window = 1) {
      const now = Math.floor(native.now() / 1000 / STEP_S);
      for (let at = -window; at <= window; at++) if (this.#code(now + at) === String(code)) return true;
      return false;
    }
  };
  exports.default = { TOTP: exports.TOTP };
})
