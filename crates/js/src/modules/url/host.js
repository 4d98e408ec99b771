(function (exports, require, native) {
  'use strict';
  const FORBIDDEN = /[\x00-\x20#/:<>?@[\\\]^|%\x7f]/;

  // Punycode (RFC 3492).
  function punycode(label) {
    const signs = [...label].map((sign) => sign.codePointAt(0));
    const basic = signs.filter((code) => code < 128);
    let out = String.fromCharCode(...basic);
    if (basic.length > 0) out += '-';
    let [n, delta, bias, done] = [128, 0, 72, basic.length];
    const digit = (value) => String.fromCharCode(value < 26 ? value + 97 : value + 22);
    while (done < signs.length) {
      const next = Math.min(...signs.filter((code) => code >= n));
      delta += (next - n) * (done + 1);
      n = next;
      for (const code of signs) {
        if (code < n) delta++;
        if (code !== n) continue;
        let q = delta;
        for (let k = 36; ; k += 36) {
          const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
          if (q < t) break;
          out += digit(t + ((q - t) % (36 - t)));
          q = Math.floor((q - t) / (36 - t));
        }
        out += digit(q);
        let adapted = done === basic.length ? Math.floor(delta / 700) : delta >> 1;
        adapted += Math.floor(adapted / (done + 1));
        let k = 0;
        for (; adapted > 455; k += 36) adapted = Math.floor(adapted / 35);
        bias = k + Math.floor((36 * adapted) / (adapted + 38));
        delta = 0;
        done++;
      }
      delta++;
      n++;
    }
    return `xn--${out}`;
  }

  // Returns the address of a host that ends in a number; undefined if it is invalid.
  function ipv4(host) {
    const parts = host.replace(/\.$/, '').split('.');
    if (parts.length > 4) return undefined;
    const numbers = parts.map((part) => {
      if (/^0x[0-9a-f]*$/i.test(part)) return part.length === 2 ? 0 : Number(part);
      if (/^0[0-7]*$/.test(part)) return parseInt(part, 8);
      return /^\d+$/.test(part) ? Number(part) : NaN;
    });
    if (numbers.some(Number.isNaN) || numbers.slice(0, -1).some((one) => one > 255)) return undefined;
    const last = numbers.pop();
    if (last >= 256 ** (4 - numbers.length)) return undefined;
    const value = numbers.reduce((sum, one, at) => sum + one * 256 ** (3 - at), last);
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
  }

  // Returns the shortest form of an address (RFC 5952); undefined if it is invalid.
  function ipv6(text) {
    const four = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
    if (four !== null) {
      const bytes = four[2].split('.').map(Number);
      if (bytes.some((byte) => byte > 255)) return undefined;
      text = `${four[1]}${(bytes[0] * 256 + bytes[1]).toString(16)}:${(bytes[2] * 256 + bytes[3]).toString(16)}`;
    }
    const halves = text.split('::');
    if (halves.length > 2) return undefined;
    const [left, right] = halves.map((half) => (half === '' ? [] : half.split(':')));
    const missing = 8 - left.length - (right?.length ?? 0);
    if (right === undefined ? missing !== 0 : missing < 1) return undefined;
    const all = right === undefined ? left : [...left, ...Array(missing).fill('0'), ...right];
    if (!all.every((piece) => /^[0-9a-f]{1,4}$/i.test(piece))) return undefined;
    const pieces = all.map((piece) => parseInt(piece, 16).toString(16));
    let best = [0, 0];
    for (let at = 0; at < 8; at++) {
      let end = at;
      while (end < 8 && pieces[end] === '0') end++;
      if (end - at > best[1]) best = [at, end - at];
    }
    if (best[1] < 2) return pieces.join(':');
    return `${pieces.slice(0, best[0]).join(':')}::${pieces.slice(best[0] + best[1]).join(':')}`;
  }

  // Returns a host as URLs show it; undefined if it is invalid.
  exports.parseHost = (host, isSpecial) => {
    if (host.startsWith('[')) {
      const address = host.endsWith(']') ? ipv6(host.slice(1, -1)) : undefined;
      return address === undefined ? undefined : `[${address}]`;
    }
    if (!isSpecial) {
      if (FORBIDDEN.test(host.replace(/%/g, ''))) return undefined;
      return host.replace(/[^\x20-\x7e]/gu, (sign) => encodeURIComponent(sign.toWellFormed()));
    }
    const name = native
      .percentDecode(host)
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\u3002\uff0e\uff61]/g, '.');
    // Bytes that are not UTF-8.
    if (name.includes('\ufffd')) return undefined;
    const ascii = name
      .split('.')
      .map((label) => (/[^\x00-\x7f]/.test(label) ? punycode(label) : label))
      .join('.');
    if (FORBIDDEN.test(ascii)) return undefined;
    const last = ascii.replace(/\.$/, '').split('.').at(-1);
    return /^(\d+|0x[0-9a-f]*)$/i.test(last) ? ipv4(ascii) : ascii;
  };
})
