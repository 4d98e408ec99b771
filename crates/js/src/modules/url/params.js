(function (exports, require, native) {
  'use strict';
  const encoded = (text) =>
    encodeURIComponent(text.toWellFormed())
      .replace(/[!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%20/g, '+');
  const decoded = (text) => native.percentDecode(text.replace(/\+/g, ' '));

  function parse(text) {
    return text
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const at = pair.indexOf('=');
        return at < 0 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))];
      });
  }

  // What to call with the text after a change.
  const watchers = new WeakMap();
  exports.watched = (params, changed) => watchers.set(params, changed);

  class URLSearchParams {
    #pairs = [];
    constructor(init = '') {
      if ((typeof init === 'object' && init !== null) || typeof init === 'function') {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const both = [...pair];
            if (both.length !== 2) throw new TypeError('URLSearchParams requires pairs of a name and a value');
            this.#pairs.push(both.map(String));
          }
        } else for (const name of Object.keys(init)) this.#pairs.push([name, String(init[name])]);
      } else this.#pairs = parse(String(init).replace(/^\?/, ''));
    }
    #changed() {
      watchers.get(this)?.(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(
        ([one, of]) => one !== String(name) || (value !== undefined && of !== String(value)),
      );
      this.#changed();
    }
    get(name) {
      return this.#pairs.find(([one]) => one === String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([one]) => one === String(name)).map(([, value]) => value);
    }
    has(name, value) {
      return this.#pairs.some(([one, of]) => one === String(name) && (value === undefined || of === String(value)));
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([one]) => one === String(name));
      if (at < 0) this.#pairs.push([String(name), String(value)]);
      else {
        this.#pairs[at][1] = String(value);
        this.#pairs = this.#pairs.filter(([one], i) => i <= at || one !== String(name));
      }
      this.#changed();
    }
    sort() {
      this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
      this.#changed();
    }
    forEach(callback, thisArg) {
      for (const [name, value] of this) callback.call(thisArg, value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
    }
  }
  // A URL whose own query was replaced.
  Object.defineProperty(URLSearchParams.prototype, '__reset', {
    value(text) {
      const changed = watchers.get(this);
      watchers.delete(this);
      for (const name of [...this.keys()]) this.delete(name);
      for (const [name, value] of parse(text)) this.append(name, value);
      if (changed !== undefined) watchers.set(this, changed);
    },
  });
  exports.URLSearchParams = URLSearchParams;
})
