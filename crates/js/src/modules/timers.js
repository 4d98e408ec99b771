(function (exports, require, native) {
  'use strict';
  for (const name of ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval']) exports[name] = native[name];
  exports.default = { ...exports };
})
