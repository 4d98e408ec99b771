(function (exports, require, native) {
  'use strict';
  const handler = {
    get(target, key) {
      if (typeof key === 'string') {
        if (key === 'length') return target.size;
        const at = Number(key);
        if (Number.isInteger(at) && at >= 0) {
          return at < target.size ? native.sharedElement(target.name, at) : undefined;
        }
      }
      if (key === Symbol.iterator) return Array.prototype[Symbol.iterator];
      return Array.prototype[key];
    },
    set() {
      throw new TypeError('a SharedArray is read-only');
    },
    has(target, key) {
      const at = typeof key === 'string' ? Number(key) : NaN;
      return Number.isInteger(at) ? at >= 0 && at < target.size : key in Array.prototype;
    },
    ownKeys(target) {
      return [...Array.from({ length: target.size }, (_, at) => String(at)), 'name', 'size'];
    },
    getOwnPropertyDescriptor(target, key) {
      if (key === 'name' || key === 'size') {
        return { value: target[key], writable: true, enumerable: false, configurable: true };
      }
      const value = this.get(target, key);
      if (value === undefined) return undefined;
      return { value, writable: false, enumerable: true, configurable: true };
    },
  };
  exports.SharedArray = function SharedArray(name, make) {
    if (!new.target) throw new TypeError('SharedArray requires `new`');
    if (typeof name !== 'string' || name === '') throw new TypeError('a SharedArray requires a name');
    if (typeof make !== 'function') throw new TypeError('a SharedArray requires a function that returns an array');
    let size = native.sharedSize(name);
    if (size < 0) {
      const made = make();
      if (!Array.isArray(made)) throw new TypeError('the function of a SharedArray must return an array');
      size = native.sharedKeep(name, made.map((one) => JSON.stringify(one) ?? 'null'));
    }
    const target = Object.defineProperties({}, {
      name: { value: name, writable: true, configurable: true },
      size: { value: size, writable: true, configurable: true },
    });
    return new Proxy(target, handler);
  };
  exports.default = { SharedArray: exports.SharedArray };
})
