(function (exports, require, native) {
  'use strict';
  exports.setTimeout = native.setTimeout;
  exports.clearTimeout = native.clearTimeout;
  exports.setInterval = native.setInterval;
  exports.clearInterval = native.clearInterval;
  exports.default = { ...exports };
})
