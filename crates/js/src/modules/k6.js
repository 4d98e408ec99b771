(function (exports, require, native) {
  'use strict';
  exports.check = native.check;
  exports.sleep = native.sleep;
  exports.fail = (message) => {
    throw new Error(message === undefined ? '' : String(message));
  };
  exports.group = (name, body) => {
    if (typeof body !== 'function') throw new TypeError('a group requires a name and a function');
    if (native.isAsync(body)) throw new TypeError('a group must not be an async function');
    const began = native.groupBegin(String(name));
    try {
      return body();
    } finally {
      native.groupEnd(began);
    }
  };
  exports.randomSeed = native.randomSeed;
  exports.default = exports;
})
