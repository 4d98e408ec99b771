(function (exports, require, native) {
  'use strict';
  // Paths into JSON as gjson writes them: `name.0.#.id`, `list.#(age>40)#.name`, `first*`, `a\.b`, `@reverse`.
  const refuse = (path, what) => new Error(`json path \`${path}\`: ${what} is not supported`);
  const CLOSE = { '(': ')', '[': ']', '{': '}' };

  // Returns the index after the bracket that closes the one at `at`.
  function closing(path, at) {
    const open = [];
    for (let i = at; i < path.length; i++) {
      const sign = path[i];
      if (sign === '\\') i++;
      else if (sign === '"') {
        while (++i < path.length && path[i] !== '"') if (path[i] === '\\') i++;
      } else if (CLOSE[sign]) open.push(CLOSE[sign]);
      else if (sign === open.at(-1)) {
        open.pop();
        if (open.length === 0) return i + 1;
      }
    }
    throw new Error(`json path \`${path}\`: unclosed \`${path[at]}\``);
  }

  function parse(path) {
    const parts = [];
    let at = 0;
    while (at < path.length) {
      const part = { text: '', isPattern: false, separator: '.' };
      const first = path[at];
      if (first === '{' || first === '[') throw refuse(path, 'a path of several values');
      if (first === '!') throw refuse(path, 'a literal');
      if (first === '@') {
        const end = path.slice(at).search(/[.|:]/);
        const stop = end < 0 ? path.length : at + end;
        part.modifier = path.slice(at + 1, stop);
        at = stop;
        if (path[at] === ':') {
          const begin = ++at;
          at = CLOSE[path[at]] ? closing(path, at) : at + path.slice(at).match(/^("(\\.|[^"])*"|[^.|]*)/)[0].length;
          part.argument = path.slice(begin, at);
        }
      } else if (first === '#' && (path[at + 1] === '(' || path[at + 1] === '[')) {
        const end = closing(path, at + 1);
        part.query = query(path, path.slice(at + 2, end - 1));
        at = end;
        if (path[at] === '#') {
          part.isAll = true;
          at++;
        }
      } else {
        const literal = [];
        while (at < path.length && path[at] !== '.' && path[at] !== '|') {
          if (path[at] === '\\') literal.push([path[++at] ?? '', false]);
          else literal.push([path[at], path[at] === '*' || path[at] === '?']);
          at++;
        }
        part.text = literal.map(([sign]) => sign).join('');
        part.isPattern = literal.some(([, isWild]) => isWild);
        if (part.isPattern) part.pattern = pattern(literal);
        part.isCount = part.text === '#' && path[at - 1] === '#';
      }
      if (at < path.length) part.separator = path[at];
      at++;
      parts.push(part);
    }
    return parts;
  }

  function pattern(signs) {
    const escaped = (sign) => sign.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    const body = signs.map(([sign, isWild]) => (!isWild ? escaped(sign) : sign === '*' ? '.*' : '.'));
    return new RegExp(`^${body.join('')}$`, 's');
  }

  const OPERATORS = ['==', '!=', '<=', '>=', '!%', '=', '<', '>', '%'];

  function query(path, text) {
    let depth = 0;
    for (let i = 0; i < text.length; i++) {
      if (text[i] === '\\') i++;
      else if ('([{'.includes(text[i])) depth++;
      else if (')]}'.includes(text[i])) depth--;
      else if (depth === 0) {
        const operator = OPERATORS.find((one) => text.startsWith(one, i));
        if (operator === undefined) continue;
        const right = text.slice(i + operator.length).trim();
        if (right[0] === '~') throw refuse(path, 'the comparison `~`');
        let value;
        try {
          value = JSON.parse(right);
        } catch {
          value = right;
        }
        const isText = typeof value === 'string';
        const isPattern = isText && operator.endsWith('%');
        return {
          parts: parse(text.slice(0, i).trim()),
          operator,
          value,
          pattern: isPattern ? pattern([...value].map((sign) => [sign, sign === '*' || sign === '?'])) : undefined,
        };
      }
    }
    return { parts: parse(text.trim()), operator: '' };
  }

  function accepts(one, query) {
    const found = query.parts.length === 0 ? one : walk(one, query.parts, 0);
    if (query.operator === '') return found !== undefined;
    if (query.operator.endsWith('%')) {
      return (
        typeof found === 'string' &&
        query.pattern !== undefined &&
        query.pattern.test(found) === (query.operator === '%')
      );
    }
    if (found === undefined) return false;
    const { value } = query;
    switch (query.operator) {
      case '=':
      case '==':
        return found === value;
      case '!=':
        return found !== value;
      default:
        if (typeof found !== typeof value || found === null || typeof found === 'object') return false;
    }
    if (query.operator === '<') return found < value;
    if (query.operator === '<=') return found <= value;
    return query.operator === '>' ? found > value : found >= value;
  }

  // Applies the parts after `#` to every element, as far as the next `|`.
  function mapped(list, parts, at) {
    let end = at;
    while (end < parts.length - 1 && parts[end].separator === '.') end++;
    const inner = parts.slice(at, end + 1);
    const all = list.map((one) => walk(one, inner, 0)).filter((one) => one !== undefined);
    return walk(all, parts, end + 1);
  }

  function walk(value, parts, at) {
    for (; at < parts.length; at++) {
      const part = parts[at];
      if (part.modifier !== undefined) {
        value = modified(value, part);
      } else if (part.query !== undefined) {
        if (!Array.isArray(value)) return undefined;
        if (!part.isAll) value = value.find((one) => accepts(one, part.query));
        else {
          value = value.filter((one) => accepts(one, part.query));
          if (at + 1 < parts.length && part.separator === '.') return mapped(value, parts, at + 1);
        }
      } else if (part.isCount) {
        if (!Array.isArray(value)) return undefined;
        if (at + 1 < parts.length && part.separator === '.') return mapped(value, parts, at + 1);
        value = value.length;
      } else if (Array.isArray(value)) {
        value = /^\d+$/.test(part.text) ? value[Number(part.text)] : undefined;
      } else if (value !== null && typeof value === 'object') {
        const key = part.isPattern ? Object.keys(value).find((one) => part.pattern.test(one)) : part.text;
        value = key !== undefined && Object.hasOwn(value, key) ? value[key] : undefined;
      } else return undefined;
      if (value === undefined) return undefined;
    }
    return value;
  }

  const MODIFIERS = {
    this: (value) => value,
    valid: (value) => value,
    ugly: (value) => value,
    pretty: (value) => value,
    reverse: (value) => {
      if (Array.isArray(value)) return [...value].reverse();
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(Object.entries(value).reverse());
    },
    keys: (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : []),
    values: (value) => (value !== null && typeof value === 'object' ? Object.values(value) : [value]),
    flatten: (value, argument) =>
      Array.isArray(value) ? value.flat(argument !== undefined && JSON.parse(argument).deep ? Infinity : 1) : value,
    join: (value) => (Array.isArray(value) ? Object.assign({}, ...value) : value),
    tostr: (value) => JSON.stringify(value),
    fromstr: (value) => JSON.parse(value),
  };

  function modified(value, part) {
    if (!Object.hasOwn(MODIFIERS, part.modifier)) throw refuse(`@${part.modifier}`, 'this modifier');
    return MODIFIERS[part.modifier](value, part.argument);
  }

  const known = new Map();

  exports.get = (value, path) => {
    let parts = known.get(path);
    if (parts === undefined) {
      if (path === '') return undefined;
      parts = parse(path);
      // Scripts may put numbers into their paths: not every path is worth keeping.
      if (known.size < 1000) known.set(path, parts);
    }
    return walk(value, parts, 0);
  };
})
