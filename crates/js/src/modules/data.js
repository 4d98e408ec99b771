(function (exports, require, native) {
  'use strict';
  const readOnly = () => {
    throw new TypeError('a SharedArray is read-only');
  };
  const frozen = (value) => {
    if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
    return value;
  };
  const position = (key) => {
    const at = typeof key === 'string' ? Number(key) : NaN;
    return Number.isInteger(at) && at >= 0 ? at : -1;
  };
  const handlerOf = (name) => ({
    get(target, key) {
      const at = position(key);
      if (at >= 0) return at < target.length ? frozen(native.sharedElement(name, at)) : undefined;
      return target[key];
    },
    set: readOnly,
    defineProperty: readOnly,
    deleteProperty: readOnly,
    has: (target, key) => (position(key) >= 0 ? position(key) < target.length : key in target),
    ownKeys: (target) => [...Array.from({ length: target.length }, (_, at) => String(at)), 'length'],
    getOwnPropertyDescriptor(target, key) {
      if (key === 'length') return Reflect.getOwnPropertyDescriptor(target, key);
      const value = position(key) >= 0 ? this.get(target, key) : undefined;
      return value === undefined ? undefined : { value, writable: false, enumerable: true, configurable: true };
    },
  });
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
    // An array, so that it counts as one; its elements are elsewhere.
    return new Proxy(new Array(size), handlerOf(name));
  };
  exports.default = { SharedArray: exports.SharedArray };
})
