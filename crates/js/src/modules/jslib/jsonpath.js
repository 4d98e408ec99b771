(function (exports, require, native) {
  'use strict';
  const isTree = (value) => value !== null && typeof value === 'object';
  const literal = (text) => {
    if (/^'(?:[^'\\]|\\.)*'$|^"(?:[^"\\]|\\.)*"$/.test(text)) return text.slice(1, -1).replace(/\\(.)/g, '$1');
    if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
    const words = { true: true, false: false, null: null };
    return Object.hasOwn(words, text) ? words[text] : undefined;
  };

  // A filter: comparisons of `@.name` with literals, joined by `&&` and `||`.
  function filter(path, text) {
    const wrong = () => new Error(`jsonpath \`${path}\`: the script expression \`${text.trim()}\` is not supported`);
    const term = (one) => {
      const found =
        /^\s*(!?)\s*@((?:\.[\w$-]+|\[(?:'[^']*'|"[^"]*"|\d+)\])*)\s*(?:(===?|!==?|<=?|>=?)\s*(.+?))?\s*$/.exec(one);
      if (found === null) throw wrong();
      const [, not, inner, operator, right] = found;
      const steps = parse(`$${inner}`);
      const value = right === undefined ? undefined : literal(right);
      if (right !== undefined && value === undefined) throw wrong();
      return (of) => {
        const got = walk(of, steps)[0]?.value;
        if (operator === undefined) return not === '' ? Boolean(got) : !got;
        if (not !== '') throw wrong();
        switch (operator) {
          case '==':
          case '===':
            return got === value;
          case '!=':
          case '!==':
            return got !== value;
          case '<':
            return got < value;
          case '<=':
            return got <= value;
          case '>':
            return got > value;
          default:
            return got >= value;
        }
      };
    };
    const any = text.split('||').map((part) => part.split('&&').map(term));
    return (of) => any.some((all) => all.every((condition) => condition(of)));
  }

  function inBrackets(path, text) {
    const quoted = text.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
    if (/^\s*\?/.test(text)) {
      const body = /^\s*\?\s*\((.*)\)\s*$/s.exec(text);
      if (body === null) throw new Error(`jsonpath \`${path}\`: invalid filter \`${text}\``);
      const accepts = filter(path, body[1]);
      return { keys: (value) => Object.keys(value).filter((key) => accepts(value[key])) };
    }
    if (/^\s*\(/.test(text))
      throw new Error(`jsonpath \`${path}\`: the script expression \`${text}\` is not supported`);
    const slice = /^\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*))?\s*$/.exec(text);
    if (slice !== null) {
      const [begin, end, step] = slice
        .slice(1)
        .map((one) => (one === undefined || one === '' ? undefined : Number(one)));
      return {
        keys: (value) =>
          Array.isArray(value)
            ? Object.keys(value)
                .slice(begin, end)
                .filter((_, at) => at % (step ?? 1) === 0)
            : [],
      };
    }
    const names = quoted.map((one) => {
      const trimmed = one.trim();
      if (trimmed === '*') return '*';
      const value = literal(trimmed);
      if (value === undefined || value === null) throw new Error(`jsonpath \`${path}\`: unexpected \`${trimmed}\``);
      return value;
    });
    return { keys: (value) => names.flatMap((name) => keysOf(value, name)) };
  }

  function keysOf(value, name) {
    if (name === '*') return Object.keys(value);
    if (typeof name === 'number' && name < 0 && Array.isArray(value)) name += value.length;
    return Object.hasOwn(value, name) ? [String(name)] : [];
  }

  function parse(path) {
    if (typeof path !== 'string' || !path.startsWith('$'))
      throw new Error(`jsonpath \`${path}\`: expected \`$\` at the beginning`);
    const steps = [];
    let at = 1;
    while (at < path.length) {
      const isDeep = path.startsWith('..', at);
      if (isDeep) at += 2;
      else if (path[at] === '.') at++;
      else if (path[at] !== '[') throw new Error(`jsonpath \`${path}\`: unexpected \`${path[at]}\``);
      if (path[at] === '[') {
        const inner = /^\[((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[(?:'[^']*'|"[^"]*"|\d+)\]|[^\]'"[])*)\]/.exec(
          path.slice(at),
        );
        if (inner === null) throw new Error(`jsonpath \`${path}\`: unclosed \`[\``);
        steps.push({ isDeep, ...inBrackets(path, inner[1]) });
        at += inner[0].length;
      } else {
        const name = /^(\*|[^.[\]\s]+)/.exec(path.slice(at));
        if (name === null) throw new Error(`jsonpath \`${path}\`: expected a name`);
        steps.push({ isDeep, keys: (value) => keysOf(value, name[0]) });
        at += name[0].length;
      }
    }
    return steps;
  }

  function below(node) {
    if (!isTree(node.value)) return [];
    return Object.keys(node.value).map((key) => ({
      path: [...node.path, Array.isArray(node.value) ? Number(key) : key],
      value: node.value[key],
      parent: node.value,
      key,
    }));
  }
  function* all(node) {
    yield node;
    for (const one of below(node)) yield* all(one);
  }

  function walk(tree, steps) {
    let nodes = [{ path: ['$'], value: tree }];
    for (const { isDeep, keys } of steps) {
      const from = isDeep ? nodes.flatMap((node) => [...all(node)]) : nodes;
      nodes = from.flatMap((node) => {
        if (!isTree(node.value)) return [];
        const wanted = keys(node.value);
        const inner = new Map(below(node).map((one) => [String(one.key), one]));
        return wanted.map((key) => inner.get(key)).filter((one) => one !== undefined);
      });
    }
    return nodes;
  }

  const stringify = (path) =>
    path
      .map((key, at) =>
        at === 0
          ? '$'
          : typeof key === 'number'
            ? `[${key}]`
            : /^[\w$]+$/.test(key)
              ? `.${key}`
              : `[${JSON.stringify(key)}]`,
      )
      .join('');
  const found = (tree, path, count) => walk(tree, parse(path)).slice(0, count);
  const jsonpath = {
    query: (tree, path, count) => found(tree, path, count).map((node) => node.value),
    paths: (tree, path, count) => found(tree, path, count).map((node) => node.path),
    nodes: (tree, path, count) => found(tree, path, count).map(({ path, value }) => ({ path, value })),
    value(tree, path, replacement) {
      const node = found(tree, path, 1)[0];
      if (arguments.length > 2 && node?.parent !== undefined) node.parent[node.key] = replacement;
      return arguments.length > 2 ? replacement : node?.value;
    },
    parent: (tree, path) => found(tree, path, 1)[0]?.parent,
    apply: (tree, path, change) =>
      found(tree, path).map((node) => {
        if (node.parent !== undefined) node.parent[node.key] = change(node.value);
        return { path: node.path, value: node.parent?.[node.key] };
      }),
    stringify,
  };
  Object.assign(exports, jsonpath);
  exports.default = jsonpath;
})
