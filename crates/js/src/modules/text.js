(function (exports, require, native) {
  'use strict';
  const LABELS = {
    'utf-8': ['utf-8', 'utf8', 'unicode-1-1-utf-8'],
    'utf-16le': ['utf-16le', 'utf-16', 'ucs-2', 'unicode'],
    'windows-1252': ['windows-1252', 'latin1', 'iso-8859-1', 'ascii', 'us-ascii', 'l1', 'cp1252'],
  };
  // What windows-1252 has at 0x80 to 0x9f (encoding.spec.whatwg.org).
  const HIGH = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

  function view(data) {
    if (data === undefined) return new Uint8Array(0);
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError('a decoder requires an ArrayBuffer or a view of one');
  }

  exports.TextEncoder = class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return new Uint8Array(native.utf8(String(text).toWellFormed()));
    }
    encodeInto(text, target) {
      let [read, written] = [0, 0];
      for (const sign of String(text).toWellFormed()) {
        const bytes = this.encode(sign);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        read += sign.length;
        written += bytes.length;
      }
      return { read, written };
    }
  };

  exports.TextDecoder = class TextDecoder {
    #rest = new Uint8Array(0);
    #isBegun = false;
    constructor(label = 'utf-8', options = {}) {
      const wanted = String(label).trim().toLowerCase();
      this.encoding = Object.keys(LABELS).find((name) => LABELS[name].includes(wanted));
      if (this.encoding === undefined) throw new RangeError(`the encoding \`${label}\` is not supported`);
      this.fatal = Boolean(options.fatal);
      this.ignoreBOM = Boolean(options.ignoreBOM);
    }
    decode(data, options = {}) {
      let bytes = view(data);
      if (this.#rest.length > 0) bytes = Uint8Array.from([...this.#rest, ...bytes]);
      const keep = options.stream ? this.#incomplete(bytes) : 0;
      this.#rest = bytes.slice(bytes.length - keep);
      let text = this.#text(bytes.subarray(0, bytes.length - keep));
      if (!this.#isBegun && !this.ignoreBOM && text.startsWith('\ufeff')) text = text.slice(1);
      this.#isBegun = options.stream ? this.#isBegun || text !== '' : false;
      return text;
    }
    // Returns the number of bytes at the end that the next piece completes.
    #incomplete(bytes) {
      if (this.encoding === 'utf-16le') return bytes.length % 2;
      if (this.encoding !== 'utf-8') return 0;
      for (let back = 1; back <= Math.min(3, bytes.length); back++) {
        const byte = bytes[bytes.length - back];
        if (byte < 0x80) return 0;
        if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
      }
      return 0;
    }
    #text(bytes) {
      if (this.encoding === 'utf-8') return native.ofUtf8(bytes, this.fatal);
      if (this.encoding === 'windows-1252') {
        return native.latin1(bytes).replace(/[\x80-\x9f]/g, (sign) => HIGH[sign.charCodeAt(0) - 0x80]);
      }
      let text = '';
      for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(bytes[at] | (bytes[at + 1] << 8));
      if (bytes.length % 2 === 1) text += '\ufffd';
      if (this.fatal && (!text.isWellFormed() || bytes.length % 2 === 1)) throw new TypeError('invalid UTF-16');
      return text.toWellFormed();
    }
  };

  function invalid(what) {
    const error = new Error(what);
    error.name = 'InvalidCharacterError';
    return error;
  }

  exports.btoa = (data) => {
    const text = String(data);
    const bytes = Uint8Array.from(text, (sign) => {
      if (sign.length > 1 || sign.charCodeAt(0) > 255) throw invalid('btoa() requires characters up to U+00FF');
      return sign.charCodeAt(0);
    });
    return native.base64(bytes, 'std');
  };
  exports.atob = (data) => {
    let text = String(data).replace(/[\t\n\f\r ]/g, '');
    if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '');
    if (/[^A-Za-z0-9+/]/.test(text) || text.length % 4 === 1) throw invalid('atob() requires base64');
    // Unused bits of the last character are ignored.
    const used = text.length % 4;
    const last = used === 0 ? text : text.slice(0, -1) + cleared(text.at(-1), used === 2 ? 16 : 4);
    return native.latin1(native.unbase64(last, 'rawstd'));
  };
  const SIGNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const cleared = (sign, unit) => SIGNS[Math.floor(SIGNS.indexOf(sign) / unit) * unit];
})
