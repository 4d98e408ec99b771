(function (exports, require, native) {
  'use strict';
  exports.default = {};
})
