(function (exports, require, native) {
  'use strict';
  exports.b64encode = (data, encoding = 'std') => native.base64(data, encoding);
  exports.b64decode = (text, encoding = 'std', format) => {
    if (format !== undefined && format !== null && format !== 's' && format !== '') {
      throw new TypeError(`unknown format \`${format}\`: expected \`s\``);
    }
    const bytes = native.unbase64(text, encoding);
    return format === 's' ? native.ofUtf8(bytes) : bytes;
  };
  exports.default = { b64encode: exports.b64encode, b64decode: exports.b64decode };
})
