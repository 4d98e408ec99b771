(function (exports, require, native) {
  'use strict';
  const encoded = (text, space) =>
    encodeURIComponent(text)
      .replace(/[!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%20/g, space);

  // Writes an object as a form: `a[b]=c` for objects, `a[0]=b` for arrays.
  function form(value, options = {}) {
    const { sorted, skipIndex, skipBracket, ignorenull, useDot, whitespace = '+' } = options;
    const pairs = [];
    const key = (text) => encoded(text, whitespace);
    function add(name, one) {
      if (one === undefined || typeof one === 'function') return;
      if (one === null) {
        if (!ignorenull) pairs.push(`${name}=`);
      } else if (Array.isArray(one)) {
        one.forEach((inner, at) => add(skipBracket ? name : `${name}${key(skipIndex ? '[]' : `[${at}]`)}`, inner));
      } else if (typeof one === 'object' && !(one instanceof Date)) {
        for (const inner of keys(one))
          add(useDot ? `${name}.${key(inner)}` : `${name}${key(`[${inner}]`)}`, one[inner]);
      } else pairs.push(`${name}=${key(one instanceof Date ? one.toISOString() : String(one))}`);
    }
    const keys = (of) => (sorted ? Object.keys(of).sort() : Object.keys(of));
    for (const name of keys(value)) add(key(name), value[name]);
    return pairs.join('&');
  }
  exports.default = form;
  exports.formurlencoded = form;
})
