(function (exports, require, native) {
  'use strict';
  // `Blob` of the File API, as far as scripts of sockets need it.
  class Blob {
    #bytes;
    #type;

    constructor(parts = [], options = {}) {
      if (!Array.isArray(parts)) throw new TypeError('a Blob requires an array of parts');
      this.#bytes = joined(parts.map(bytesOf));
      this.#type = options?.type === undefined ? '' : String(options.type).toLowerCase();
    }

    get size() { return this.#bytes.length; }
    get type() { return this.#type; }

    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async bytes() { return this.#bytes.slice(); }
    async text() { return new TextDecoder().decode(this.#bytes); }

    slice(start, end, type) {
      return new Blob([this.#bytes.slice(start, end)], { type: type ?? '' });
    }

    stream() {
      const bytes = this.#bytes.slice();
      const { ReadableStream } = require('k6/experimental/streams');
      return new ReadableStream({
        start(controller) {
          if (bytes.length > 0) controller.enqueue(bytes);
          controller.close();
        },
      });
    }

    static bytes(blob) { return blob.#bytes; }
  }

  const bytesIn = Blob.bytes;
  delete Blob.bytes;

  function bytesOf(part) {
    if (part instanceof Blob) return bytesIn(part);
    if (part instanceof ArrayBuffer) return new Uint8Array(part);
    if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    return new TextEncoder().encode(String(part));
  }

  function joined(parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  exports.Blob = Blob;
  exports.bytesOf = bytesOf;
})
