(function (exports, require, native) {
  'use strict';
  const { URL, URLSearchParams } = require('~url');
  exports.URL = URL;
  exports.URLSearchParams = URLSearchParams;
  exports.default = { URL, URLSearchParams };
})
