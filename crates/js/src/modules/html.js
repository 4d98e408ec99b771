(function (exports, require, native) {
  'use strict';
  const { parse, Selection } = require('~html/selection');
  exports.parseHTML = (text, url) => {
    if (text === undefined || text === null) throw new TypeError('parseHTML() requires a text');
    return parse(String(text), url);
  };
  exports.Selection = Selection;
  exports.default = { parseHTML: exports.parseHTML };
})
