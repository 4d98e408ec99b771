(function (exports, require, native) {
  'use strict';
  function refused(what) {
    const error = new Error(`${what} cannot be cloned`);
    error.name = 'DataCloneError';
    return error;
  }
  const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  function copy(value, known) {
    if (typeof value === 'function') throw refused('a function');
    if (typeof value === 'symbol') throw refused('a symbol');
    if (value === null || typeof value !== 'object') return value;
    if (known.has(value)) return known.get(value);
    const keep = (made) => {
      known.set(value, made);
      return made;
    };
    if (Array.isArray(value)) {
      const list = keep(new Array(value.length));
      for (const key of Object.keys(value)) list[key] = copy(value[key], known);
      return list;
    }
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (value instanceof DataView) {
      return keep(new DataView(copy(value.buffer, known), value.byteOffset, value.byteLength));
    }
    if (ArrayBuffer.isView(value)) {
      return keep(new value.constructor(copy(value.buffer, known), value.byteOffset, value.length));
    }
    if (value instanceof Map) {
      const map = keep(new Map());
      for (const [key, one] of value) map.set(copy(key, known), copy(one, known));
      return map;
    }
    if (value instanceof Set) {
      const set = keep(new Set());
      for (const one of value) set.add(copy(one, known));
      return set;
    }
    if (value instanceof Error) {
      const made = keep(new (ERRORS[value.name] ?? Error)(value.message));
      if ('cause' in value) made.cause = copy(value.cause, known);
      made.stack = value.stack;
      return made;
    }
    for (const wrapper of [Boolean, Number, String, BigInt]) {
      if (value instanceof wrapper) return keep(Object(value.valueOf()));
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
      throw refused(`a ${value.constructor.name}`);
    }
    const object = keep({});
    for (const key of Object.keys(value)) object[key] = copy(value[key], known);
    return object;
  }

  exports.structuredClone = (value, options) => {
    if (options?.transfer?.length > 0) throw refused('a value that is transferred');
    return copy(value, new Map());
  };
})
