(function (exports, require, native) {
  'use strict';
  const DELIMITERS = [',', '\t', '|', ';', '\x1e', '\x1f'];
  const REFUSED = ['download', 'worker', 'chunk', 'beforeFirstChunk'];

  // Splits a text into rows of fields; quotes as in RFC 4180.
  function split(text, delimiter, quote, escape, errors) {
    const rows = [];
    let [row, at] = [[], 0];
    const end = text.length;
    while (at <= end) {
      let field;
      if (text[at] === quote) {
        field = '';
        at++;
        for (;;) {
          const next = text.indexOf(quote, at);
          if (next < 0) {
            errors.push({
              type: 'Quotes',
              code: 'MissingQuotes',
              message: 'Quoted field unterminated',
              row: rows.length,
              index: at,
            });
            field += text.slice(at);
            at = end;
            break;
          }
          if (escape !== quote && next > at && text[next - 1] === escape) {
            field += text.slice(at, next - 1) + quote;
            at = next + 1;
          } else if (escape === quote && text[next + 1] === quote) {
            field += text.slice(at, next + 1);
            at = next + 2;
          } else {
            field += text.slice(at, next);
            at = next + 1;
            break;
          }
        }
        const rest = /^[^\S\r\n]*/.exec(text.slice(at, at + 64))[0];
        if (rest !== '' && !rest.includes(delimiter)) at += rest.length;
      } else {
        let stop = at;
        while (stop < end && text[stop] !== '\n' && text[stop] !== '\r' && !text.startsWith(delimiter, stop)) stop++;
        field = text.slice(at, stop);
        at = stop;
      }
      row.push(field);
      if (at < end && text.startsWith(delimiter, at)) {
        at += delimiter.length;
        continue;
      }
      rows.push(row);
      row = [];
      if (at >= end) break;
      at += text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1;
      if (at >= end) {
        rows.push(['']);
        break;
      }
    }
    return rows;
  }

  function guess(text, quote, candidates, comment) {
    const isComment = (row) => Boolean(comment) && row[0].startsWith(comment);
    const sample = text.slice(0, 10000);
    let best = { delimiter: ',', width: 1.99, spread: Infinity };
    for (const delimiter of candidates) {
      const rows = split(sample, delimiter, quote, quote, [])
        .filter((row) => !isComment(row) && (row.length > 1 || row[0] !== ''))
        .slice(0, 10);
      const width = rows.reduce((sum, row) => sum + row.length, 0) / Math.max(1, rows.length);
      const spread = rows.reduce((sum, row) => sum + Math.abs(row.length - width), 0);
      if (width > 1.99 && spread < best.spread) best = { delimiter, width, spread };
    }
    return best.delimiter;
  }

  function typed(value) {
    if (value === 'true' || value === 'TRUE') return true;
    if (value === 'false' || value === 'FALSE') return false;
    if (/^\s*-?(\d+\.?|\.\d+|\d+\.\d+)([eE][-+]?\d+)?\s*$/.test(value)) {
      const number = Number(value);
      return Math.abs(number) < 2 ** 53 ? number : value;
    }
    return value === '' ? null : value;
  }

  function parse(input, config = {}) {
    for (const name of REFUSED) if (config[name]) throw new Error(`papaparse: the option \`${name}\` is not supported`);
    const text = String(input).replace(/^\ufeff/, '');
    const quote = config.quoteChar ?? '"';
    const errors = [];
    const comment = config.comments === true ? '#' : config.comments;
    const delimiter =
      typeof config.delimiter === 'function'
        ? config.delimiter(text)
        : config.delimiter || guess(text, quote, config.delimitersToGuess ?? DELIMITERS, comment);
    let rows = split(text, delimiter, quote, config.escapeChar ?? quote, errors);
    if (comment) rows = rows.filter((row) => !row[0].startsWith(comment));
    if (config.skipEmptyLines === 'greedy') rows = rows.filter((row) => row.join('').trim() !== '');
    else if (config.skipEmptyLines) rows = rows.filter((row) => row.length > 1 || row[0] !== '');
    let fields;
    if (config.header) {
      fields = (rows.shift() ?? []).map((name, at) =>
        config.transformHeader ? config.transformHeader(name, at) : name,
      );
    }
    let isTruncated = false;
    if (config.preview > 0 && rows.length > config.preview) {
      rows.length = config.preview;
      isTruncated = true;
    }
    const isTyped = (field) => {
      const of = config.dynamicTyping;
      if (typeof of === 'function') return of(field);
      return of === true || (of !== null && typeof of === 'object' && of[field] === true);
    };
    const value = (one, field) => {
      const changed = config.transform ? config.transform(one, field) : one;
      return isTyped(field) ? typed(changed) : changed;
    };
    const data = rows.map((row, number) => {
      if (fields === undefined) return row.map((one, at) => value(one, at));
      if (row.length !== fields.length) {
        const isFew = row.length < fields.length;
        errors.push({
          type: 'FieldMismatch',
          code: isFew ? 'TooFewFields' : 'TooManyFields',
          message: `Too ${isFew ? 'few' : 'many'} fields: expected ${fields.length} fields but parsed ${row.length}`,
          row: number,
        });
      }
      const object = {};
      row.forEach((one, at) => {
        if (at < fields.length) object[fields[at]] = value(one, fields[at]);
        else (object.__parsed_extra ??= []).push(value(one, '__parsed_extra'));
      });
      return object;
    });
    const linebreak = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
    const meta = {
      delimiter,
      linebreak,
      aborted: false,
      truncated: isTruncated,
      cursor: text.length,
      ...(fields && { fields }),
    };
    if (typeof config.step === 'function') {
      const parser = {
        abort: () => {
          meta.aborted = true;
        },
      };
      for (const one of data) {
        if (meta.aborted) break;
        config.step({ data: one, errors: [], meta }, parser);
      }
    }
    const result = { data: typeof config.step === 'function' ? [] : data, errors, meta };
    if (typeof config.complete === 'function') config.complete(result);
    return result;
  }

  function unparse(input, config = {}) {
    const { delimiter = ',', newline = '\r\n', quoteChar = '"', header = true, skipEmptyLines = false } = config;
    const escape = config.escapeChar ?? quoteChar;
    const of = typeof input === 'string' ? JSON.parse(input) : input;
    const list = Array.isArray(of) ? of : (of.data ?? []);
    const isRows = Array.isArray(list[0]);
    const fields =
      config.columns ??
      (Array.isArray(of) ? undefined : of.fields) ??
      (isRows || list.length === 0 ? undefined : Object.keys(list[0]));
    const field = (one, at) => {
      const text = one === null || one === undefined ? '' : one instanceof Date ? one.toISOString() : String(one);
      const needs = Array.isArray(config.quotes)
        ? config.quotes[at]
        : typeof config.quotes === 'function'
          ? config.quotes(one, at)
          : config.quotes;
      const special = text.includes(delimiter) || text.includes(quoteChar) || /[\r\n]|^ | $/.test(text);
      return needs || special ? quoteChar + text.replaceAll(quoteChar, escape + quoteChar) + quoteChar : text;
    };
    const rows = list.map((row) => (Array.isArray(row) ? row : fields.map((name) => row[name])));
    if (fields !== undefined && header) rows.unshift(fields);
    const kept = skipEmptyLines ? rows.filter((row) => row.join('') !== '') : rows;
    return kept.map((row) => row.map(field).join(delimiter)).join(newline);
  }

  const Papa = { parse, unparse, BAD_DELIMITERS: ['\r', '\n', '"', '\ufeff'], RECORD_SEP: '\x1e', UNIT_SEP: '\x1f' };
  Object.assign(exports, Papa);
  exports.default = Papa;
})
