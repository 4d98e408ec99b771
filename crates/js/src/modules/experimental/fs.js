(function (exports, require, native) {
  'use strict';
  const SeekMode = { Start: 0, Current: 1, End: 2 };

  class File {
    #size;
    #offset = 0;
    constructor(path, size) {
      this.path = path;
      this.#size = size;
    }
    async stat() {
      return { name: this.path.split('/').at(-1), size: this.#size };
    }
    // Fills a Uint8Array; returns the number of bytes, or null at the end.
    async read(buffer) {
      if (!(buffer instanceof Uint8Array)) throw new TypeError('read() requires a Uint8Array');
      if (this.#offset >= this.#size) return null;
      const bytes = new Uint8Array(native.fileRead(this.path, this.#offset, buffer.length));
      buffer.set(bytes);
      this.#offset += bytes.length;
      return bytes.length;
    }
    async seek(offset, whence) {
      if (!Number.isInteger(offset)) throw new TypeError('seek() requires a whole number');
      const bases = [0, this.#offset, this.#size];
      if (bases[whence] === undefined) throw new TypeError('seek() requires a value of SeekMode');
      const next = bases[whence] + offset;
      if (next < 0 || next > this.#size) throw new TypeError('seek() must stay within the file');
      this.#offset = next;
      return next;
    }
  }

  exports.open = async (path) => {
    if (typeof path !== 'string' || path === '') throw new TypeError('open() requires the path of a file');
    return new File(path, native.fileSize(path));
  };
  exports.SeekMode = SeekMode;
  exports.default = { open: exports.open, SeekMode };
})
