(function (exports, require, native) {
  'use strict';
  exports.crypto = require('~webcrypto').crypto;
  exports.CryptoKey = require('~webcrypto').CryptoKey;
  exports.default = { crypto: exports.crypto };
})
