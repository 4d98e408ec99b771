(function (exports, require, native) {
  'use strict';
  // Comparison and description of values, for assertions.
  function equal(one, other, known = new Map()) {
    if (Object.is(one, other)) return true;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
    if (known.get(one) === other) return true;
    known.set(one, other);
    if (one instanceof Date) return Object.is(one.getTime(), other.getTime());
    if (one instanceof RegExp) return String(one) === String(other);
    if (one instanceof Error) return one.name === other.name && one.message === other.message;
    if (one instanceof ArrayBuffer) return equal(new Uint8Array(one), new Uint8Array(other), known);
    if (one instanceof Map) {
      return (
        one.size === other.size &&
        [...one].every(([key, value]) => other.has(key) && equal(value, other.get(key), known))
      );
    }
    if (one instanceof Set) {
      return (
        one.size === other.size &&
        [...one].every((value) => other.has(value) || [...other].some((of) => equal(value, of, known)))
      );
    }
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && equal(one[key], other[key], known))
    );
  }

  function inspect(value, longest = 100) {
    const text = (() => {
      if (typeof value === 'string') return `'${value}'`;
      if (typeof value === 'function') return `[Function${value.name === '' ? '' : `: ${value.name}`}]`;
      if (typeof value === 'bigint') return `${value}n`;
      if (value instanceof RegExp || value instanceof Error || typeof value !== 'object') return String(value);
      try {
        return JSON.stringify(value) ?? String(value);
      } catch {
        return String(value);
      }
    })();
    return text.length > longest ? `${text.slice(0, longest)}...` : text;
  }

  exports.equal = (one, other) => equal(one, other);
  exports.inspect = inspect;
})
