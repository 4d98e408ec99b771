(function (exports, require, native) {
  'use strict';
  // Selectors: parsed once into functions that say whether a node matches.
  const { elements, siblings, before, walk, text } = require('~html/node');
  const NAME = /^(?:\\.|[-\w\u0080-\uffff])+/;
  const unescaped = (name) => name.replace(/\\(.)/g, '$1');

  class Reader {
    constructor(whole) {
      this.whole = whole;
      this.at = 0;
    }
    get rest() {
      return this.whole.slice(this.at);
    }
    take(pattern) {
      const found = pattern.exec(this.rest);
      if (found !== null) this.at += found[0].length;
      return found;
    }
    wrong(what) {
      return new Error(
        `invalid selector \`${this.whole}\`: ${what ?? `unexpected \`${this.whole[this.at] ?? 'end'}\``}`,
      );
    }
    name() {
      const found = this.take(NAME);
      if (found === null) throw this.wrong();
      return unescaped(found[0]);
    }
    // Returns the text within parentheses.
    argument() {
      if (this.whole[this.at] !== '(') throw this.wrong();
      let depth = 0;
      for (let i = this.at; i < this.whole.length; i++) {
        const sign = this.whole[i];
        if (sign === '"' || sign === "'") {
          i = this.whole.indexOf(sign, i + 1);
          if (i < 0) break;
        } else if (sign === '(') depth++;
        else if (sign === ')' && --depth === 0) {
          const inner = this.whole.slice(this.at + 1, i);
          this.at = i + 1;
          return inner.trim();
        }
      }
      throw this.wrong('unclosed `(`');
    }
  }

  const unquoted = (value) => (/^(["']).*\1$/s.test(value) ? value.slice(1, -1) : value);
  const hasWord = (value, word) => value !== undefined && value.split(/\s+/).includes(word);
  const sameName = (node) => (other) => other.name === node.name;
  const controls = new Set(['input', 'select', 'textarea', 'button']);

  function attribute(reader) {
    reader.at++;
    reader.take(/^\s*/);
    const name = reader.name().toLowerCase();
    const found = reader.take(/^\s*(?:([~|^$*!]?=)\s*("[^"]*"|'[^']*'|[^\]\s]+)\s*(i?)\s*)?\]/);
    if (found === null) throw reader.wrong();
    const [, operator, quoted, fold] = found;
    if (operator === undefined) return (node) => node.attributes.has(name);
    const folded = (value) => (fold ? value?.toLowerCase() : value);
    const value = folded(unquoted(quoted));
    const of = (node) => folded(node.attributes.get(name));
    switch (operator) {
      case '=':
        return (node) => of(node) === value;
      case '!=':
        return (node) => of(node) !== value;
      case '~=':
        return (node) => hasWord(of(node), value);
      case '|=':
        return (node) => of(node) === value || (of(node)?.startsWith(`${value}-`) ?? false);
      case '^=':
        return (node) => value !== '' && (of(node)?.startsWith(value) ?? false);
      case '$=':
        return (node) => value !== '' && (of(node)?.endsWith(value) ?? false);
      default:
        return (node) => value !== '' && (of(node)?.includes(value) ?? false);
    }
  }

  function position(reader) {
    const text = reader.argument().toLowerCase().replace(/\s+/g, '');
    const [step, first] =
      text === 'odd'
        ? [2, 1]
        : text === 'even'
          ? [2, 0]
          : (() => {
              const found = /^(?:([-+]?\d*)n)?([-+]?\d+)?$/.exec(text);
              if (found === null || text === '') throw reader.wrong(`invalid position \`${text}\``);
              const [, step, first] = found;
              const factor =
                step === undefined ? 0 : step === '' || step === '+' ? 1 : step === '-' ? -1 : Number(step);
              return [factor, Number(first ?? 0)];
            })();
    return (place) => (step === 0 ? place === first : (place - first) % step === 0 && (place - first) / step >= 0);
  }

  const place = (all, node) => all.indexOf(node) + 1;

  function pseudo(reader) {
    if (reader.take(/^::/) !== null) throw reader.wrong('pseudo-elements do not exist in a response');
    reader.at++;
    const name = reader.name().toLowerCase();
    const of = (node) => siblings(node);
    const ofType = (node) => siblings(node).filter(sameName(node));
    switch (name) {
      case 'first-child':
        return (node) => of(node)[0] === node;
      case 'last-child':
        return (node) => of(node).at(-1) === node;
      case 'only-child':
        return (node) => of(node).length === 1;
      case 'first-of-type':
        return (node) => ofType(node)[0] === node;
      case 'last-of-type':
        return (node) => ofType(node).at(-1) === node;
      case 'only-of-type':
        return (node) => ofType(node).length === 1;
      case 'empty':
        return (node) => node.children.every((child) => child.type === 8);
      case 'root':
        return (node) => node.parent?.type === 9;
      case 'checked':
        return (node) => node.attributes.has('checked') || node.attributes.has('selected');
      case 'selected':
        return (node) => node.attributes.has('selected');
      case 'disabled':
        return (node) => node.attributes.has('disabled');
      case 'enabled':
        return (node) => controls.has(node.name) && !node.attributes.has('disabled');
      case 'input':
        return (node) => controls.has(node.name);
      case 'link':
        return (node) => node.attributes.has('href');
      case 'parent':
        return (node) => node.children.length > 0;
      case 'nth-child':
      case 'nth-last-child':
      case 'nth-of-type':
      case 'nth-last-of-type': {
        const accepts = position(reader);
        const list = name.endsWith('type') ? ofType : of;
        return name.includes('last')
          ? (node) => accepts(place([...list(node)].reverse(), node))
          : (node) => accepts(place(list(node), node));
      }
      case 'not': {
        const inner = compile(reader.argument());
        return (node) => !inner(node);
      }
      case 'is':
      case 'where':
      case 'matches':
        return compile(reader.argument());
      case 'has': {
        const argument = reader.argument();
        const isChild = argument.startsWith('>');
        const inner = compile(isChild ? argument.slice(1) : argument);
        return isChild
          ? (node) => elements(node).some(inner)
          : (node) => {
              for (const below of walk(node)) if (inner(below)) return true;
              return false;
            };
      }
      case 'contains': {
        const wanted = unquoted(reader.argument());
        return (node) => text(node).includes(wanted);
      }
      case 'containsown': {
        const wanted = unquoted(reader.argument());
        return (node) =>
          node.children
            .filter((child) => child.type === 3)
            .map(text)
            .join('')
            .includes(wanted);
      }
      default:
        throw reader.wrong(`the pseudo-class \`:${name}\` is not supported`);
    }
  }

  function compound(reader) {
    const conditions = [];
    const begin = reader.at;
    const type = reader.take(/^\*/) ?? reader.take(NAME);
    if (type !== null && type[0] !== '*') {
      const name = unescaped(type[0]).toLowerCase();
      conditions.push((node) => node.name === name || node.name.toLowerCase() === name);
    }
    for (;;) {
      const sign = reader.whole[reader.at];
      if (sign === '#') {
        reader.at++;
        const id = reader.name();
        conditions.push((node) => node.attributes.get('id') === id);
      } else if (sign === '.') {
        reader.at++;
        const name = reader.name();
        conditions.push((node) => hasWord(node.attributes.get('class'), name));
      } else if (sign === '[') conditions.push(attribute(reader));
      else if (sign === ':') conditions.push(pseudo(reader));
      else break;
    }
    if (reader.at === begin) throw reader.wrong();
    return (node) => node.type === 1 && conditions.every((condition) => condition(node));
  }

  function complex(reader) {
    reader.take(/^\s*/);
    let matches = compound(reader);
    for (;;) {
      const combinator = reader.take(/^\s*([>+~])\s*|^\s+(?=[^,\s])/);
      if (combinator === null) return matches;
      const left = matches;
      const right = compound(reader);
      switch (combinator[1]) {
        case '>':
          matches = (node) => right(node) && node.parent !== null && left(node.parent);
          break;
        case '+':
          matches = (node) => right(node) && before(node).slice(0, 1).some(left);
          break;
        case '~':
          matches = (node) => right(node) && before(node).some(left);
          break;
        default:
          matches = (node) => {
            if (!right(node)) return false;
            for (let of = node.parent; of !== null; of = of.parent) if (left(of)) return true;
            return false;
          };
      }
    }
  }

  function compile(selector) {
    const reader = new Reader(selector.trim());
    const all = [complex(reader)];
    while (reader.take(/^\s*,\s*/) !== null) all.push(complex(reader));
    if (reader.at < reader.whole.length) throw reader.wrong();
    return all.length === 1 ? all[0] : (node) => all.some((one) => one(node));
  }

  const known = new Map();
  exports.compile = (selector) => {
    let found = known.get(selector);
    if (found === undefined) {
      found = compile(selector);
      if (known.size < 1000) known.set(selector, found);
    }
    return found;
  };
})
