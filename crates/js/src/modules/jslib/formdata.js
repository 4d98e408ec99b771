(function (exports, require, native) {
  'use strict';
  // A form with files as RFC 7578 writes it.
  const quoted = (text) => String(text).replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
  const bytesOf = (data) => {
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (Array.isArray(data)) return Uint8Array.from(data);
    return new Uint8Array(native.utf8(String(data)));
  };

  exports.FormData = class FormData {
    constructor() {
      const digits = Array.from({ length: 24 }, () => Math.floor(Math.random() * 16).toString(16));
      this.boundary = `----plimsoll${digits.join('')}`;
      this.parts = [];
    }
    append(name, value, filename) {
      const isFile = value !== null && typeof value === 'object' && 'data' in value;
      const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`;
      const file = filename ?? (isFile ? value.filename : undefined);
      const isBinary = isFile || value instanceof ArrayBuffer || ArrayBuffer.isView(value);
      const type = isFile ? value.content_type : isBinary ? 'application/octet-stream' : undefined;
      const head =
        disposition +
        (file === undefined ? '' : `; filename="${quoted(file)}"`) +
        (type === undefined ? '' : `\r\nContent-Type: ${type}`);
      this.parts.push({ head, data: bytesOf(isFile ? value.data : value) });
    }
    body() {
      const pieces = this.parts.flatMap(({ head, data }) => [
        bytesOf(`--${this.boundary}\r\n${head}\r\n\r\n`),
        data,
        bytesOf('\r\n'),
      ]);
      pieces.push(bytesOf(`--${this.boundary}--\r\n`));
      const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
      let at = 0;
      for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
      }
      return all.buffer;
    }
    contentType() {
      return `multipart/form-data; boundary=${this.boundary}`;
    }
  };
  exports.default = { FormData: exports.FormData };
})
