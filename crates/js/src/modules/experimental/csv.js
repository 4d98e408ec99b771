(function (exports, require, native) {
  'use strict';
  const OPTIONS = ['delimiter', 'asObjects', 'skipFirstLine', 'fromLine', 'toLine'];

  function settingsOf(options = {}) {
    for (const name of Object.keys(options)) {
      if (!OPTIONS.includes(name)) throw new TypeError(`csv: unknown option \`${name}\``);
    }
    const all = { delimiter: ',', asObjects: false, skipFirstLine: false, fromLine: 0, ...options };
    if (typeof all.delimiter !== 'string' || all.delimiter.length !== 1)
      throw new TypeError('csv: the delimiter is one character');
    if (all.asObjects && (all.skipFirstLine || all.fromLine > 0)) {
      throw new TypeError('csv: `asObjects` takes the names from the first line, so that it cannot be skipped');
    }
    return all;
  }

  // Returns the rows of a file, which all users share and the first one parses.
  function rowsOf(file, options) {
    if (typeof file?.path !== 'string') throw new TypeError('csv requires a file of `k6/experimental/fs`');
    const { delimiter, asObjects, skipFirstLine, fromLine, toLine } = settingsOf(options);
    const name = `csv:${JSON.stringify([file.path, delimiter, asObjects, skipFirstLine, fromLine, toLine])}`;
    let size = -1;
    try {
      size = native.sharedSize(name);
    } catch {
      // Outside of the init part, an array that does not exist is an error.
    }
    if (size < 0) {
      const text = native.fileText(file.path);
      const config = { delimiter, skipEmptyLines: true, header: asObjects };
      let rows = require('jslib/papaparse').parse(text, config).data;
      const begin = Math.max(fromLine, skipFirstLine ? 1 : 0);
      rows = rows.slice(begin, toLine === undefined ? undefined : toLine + 1);
      native.sharedKeep(
        name,
        rows.map((row) => JSON.stringify(row)),
      );
    }
    const { SharedArray } = require('k6/data');
    return new SharedArray(name, () => []);
  }

  exports.parse = async (file, options) => rowsOf(file, options);
  exports.Parser = class Parser {
    #file;
    #options;
    #rows;
    #at = 0;
    constructor(file, options) {
      settingsOf(options);
      this.#file = file;
      this.#options = options;
    }
    async next() {
      this.#rows ??= rowsOf(this.#file, this.#options);
      if (this.#at >= this.#rows.length) return { done: true, value: [] };
      return { done: false, value: this.#rows[this.#at++] };
    }
  };
  exports.default = { parse: exports.parse, Parser: exports.Parser };
})
