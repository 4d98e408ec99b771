(function (exports, require, native) {
  'use strict';
  const sourceOf = (source) => ({
    async get(name) {
      return native.secret(source, String(name));
    },
  });
  exports.default = { ...sourceOf(undefined), source: (name) => sourceOf(String(name)) };
  exports.get = exports.default.get;
  exports.source = exports.default.source;
})
