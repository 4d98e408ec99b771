(function (exports, require, native) {
  'use strict';
  const { equal, inspect } = require('~equal');
  const { group } = require('k6');
  const config = {
    truncateMsgThreshold: 300,
    truncateVariableThreshold: 100,
    aggregateChecks: true,
    logFailures: false,
    exitOnError: false,
  };

  class AssertionError extends Error {
    get name() {
      return 'AssertionError';
    }
  }

  const shown = (value) => inspect(value, config.truncateVariableThreshold);
  const CHAIN = [
    'to',
    'be',
    'been',
    'is',
    'that',
    'which',
    'and',
    'has',
    'have',
    'with',
    'at',
    'of',
    'same',
    'but',
    'does',
    'still',
    'also',
  ];
  const FLAGS = ['deep', 'nested', 'own', 'ordered', 'any', 'all'];
  const typeOf = (value) => {
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'array';
    const tag = Object.prototype.toString.call(value).slice(8, -1).toLowerCase();
    return tag === 'object' && typeof value === 'object' ? 'object' : tag;
  };
  const lengthOf = (value) => (value instanceof Map || value instanceof Set ? value.size : value?.length);

  class Assertion {
    constructor(value, label, flags = {}) {
      Object.defineProperties(this, { __value: { value }, __label: { value: label }, __flags: { value: flags } });
    }
    __with(flags) {
      return new Assertion(this.__value, this.__label, { ...this.__flags, ...flags });
    }
    // Counts a check, and throws if it failed.
    __test(passed, what) {
      const isNegated = Boolean(this.__flags.negate);
      const label = this.__label ?? (config.aggregateChecks ? 'the value' : shown(this.__value));
      let name = `expected ${label} ${isNegated ? 'not ' : ''}${what}`;
      if (name.length > config.truncateMsgThreshold) name = `${name.slice(0, config.truncateMsgThreshold)}...`;
      const holds = Boolean(passed) !== isNegated;
      native.check(null, { [name]: holds });
      if (holds) return this;
      if (config.logFailures) console.warn(`${name}; the value is ${shown(this.__value)}`);
      throw new AssertionError(name);
    }
    get not() {
      return this.__with({ negate: !this.__flags.negate });
    }
    __same(one, other) {
      return this.__flags.deep ? equal(one, other) : one === other;
    }
    // The value, or its length after `lengthOf`.
    get __number() {
      return this.__flags.length ? lengthOf(this.__value) : this.__value;
    }
    get __noun() {
      return this.__flags.length ? 'to have a length ' : 'to be ';
    }

    equal(other) {
      return this.__test(
        this.__same(this.__value, other),
        `to ${this.__flags.deep ? 'deeply ' : ''}equal ${shown(other)}`,
      );
    }
    eql(other) {
      return this.__test(equal(this.__value, other), `to deeply equal ${shown(other)}`);
    }
    above(limit) {
      return this.__test(this.__number > limit, `${this.__noun}above ${shown(limit)}`);
    }
    least(limit) {
      return this.__test(this.__number >= limit, `${this.__noun}at least ${shown(limit)}`);
    }
    below(limit) {
      return this.__test(this.__number < limit, `${this.__noun}below ${shown(limit)}`);
    }
    most(limit) {
      return this.__test(this.__number <= limit, `${this.__noun}at most ${shown(limit)}`);
    }
    within(low, high) {
      return this.__test(this.__number >= low && this.__number <= high, `${this.__noun}within ${low}..${high}`);
    }
    closeTo(wanted, delta) {
      return this.__test(Math.abs(this.__value - wanted) <= delta, `to be close to ${wanted} +/- ${delta}`);
    }
    match(pattern) {
      return this.__test(pattern.test(this.__value), `to match ${pattern}`);
    }
    string(part) {
      return this.__test(typeof this.__value === 'string' && this.__value.includes(part), `to contain ${shown(part)}`);
    }
    oneOf(list) {
      return this.__test(
        list.some((one) => this.__same(one, this.__value)),
        `to be one of ${shown(list)}`,
      );
    }
    instanceOf(type) {
      return this.__test(this.__value instanceof type, `to be an instance of ${type.name}`);
    }
    satisfy(accepts) {
      return this.__test(accepts(this.__value), `to satisfy ${shown(accepts)}`);
    }
    property(name, ...rest) {
      const of = this.__flags.nested
        ? require('~path').get(this.__value, String(name).replace(/\[(\w+)\]/g, '.$1'))
        : this.__value?.[name];
      const has = this.__flags.nested
        ? of !== undefined
        : this.__value !== null &&
          this.__value !== undefined &&
          (this.__flags.own ? Object.hasOwn(this.__value, name) : name in Object(this.__value));
      const what = `to have the property ${shown(name)}`;
      if (rest.length > 0) this.__test(has && this.__same(of, rest[0]), `${what} of ${shown(rest[0])}`);
      else this.__test(has, what);
      return this.__flags.negate ? this : new Assertion(of, `${this.__label ?? 'the value'}.${String(name)}`);
    }
    keys(...names) {
      const wanted =
        names.length === 1 && typeof names[0] === 'object' && names[0] !== null
          ? Array.isArray(names[0])
            ? names[0]
            : Object.keys(names[0])
          : names;
      const of = this.__value instanceof Map ? [...this.__value.keys()] : Object.keys(this.__value);
      const has = (one) => of.includes(one);
      const passed = this.__flags.any
        ? wanted.some(has)
        : wanted.every(has) && (this.__flags.contains || of.length === wanted.length);
      return this.__test(passed, `to have ${this.__flags.any ? 'any of ' : ''}the keys ${shown(wanted)}`);
    }
    members(list) {
      const of = [...this.__value];
      const passed =
        list.every((one, at) =>
          this.__flags.ordered ? this.__same(of[at], one) : of.some((other) => this.__same(other, one)),
        ) &&
        (this.__flags.contains || of.length === list.length);
      return this.__test(passed, `to have the members ${shown(list)}`);
    }
    throw(wanted, message) {
      let thrown;
      let has = false;
      try {
        this.__value();
      } catch (error) {
        thrown = error;
        has = true;
      }
      const accepts = (one) => {
        if (one === undefined) return true;
        if (typeof one === 'function') return thrown instanceof one;
        if (one instanceof RegExp) return one.test(thrown?.message ?? String(thrown));
        return typeof one === 'string' ? (thrown?.message ?? String(thrown)).includes(one) : thrown === one;
      };
      return this.__test(
        has && accepts(wanted) && accepts(message),
        `to throw ${wanted === undefined ? 'an error' : shown(wanted)}`,
      );
    }
    // Of k6chaijs: the body of a response is JSON.
    validJsonBody() {
      let passed = true;
      try {
        this.__value.json();
      } catch {
        passed = false;
      }
      return this.__test(passed, 'to have a valid JSON body');
    }
    status(wanted) {
      return this.__test(this.__value?.status === wanted, `to have the status ${wanted}`);
    }
  }

  // Words that may be called and continued: `an('array')` and `an.instanceOf(...)`.
  function callable(name, flags, call) {
    Object.defineProperty(Assertion.prototype, name, {
      get() {
        const next = this.__with(flags);
        const method = (...args) => call.call(this, ...args);
        return new Proxy(method, {
          get: (_, key) => (typeof next[key] === 'function' ? next[key].bind(next) : next[key]),
        });
      },
    });
  }
  for (const name of ['a', 'an']) {
    callable(name, {}, function (type) {
      return this.__test(
        typeOf(this.__value) === String(type).toLowerCase(),
        `to be ${/^[aeiou]/i.test(type) ? 'an' : 'a'} ${type}`,
      );
    });
  }
  function includes(part) {
    const of = this.__value;
    let passed;
    if (typeof of === 'string') passed = of.includes(part);
    else if (Array.isArray(of) || of instanceof Set || of instanceof Map) {
      passed = [...(of instanceof Map ? of.values() : of)].some((one) => this.__same(one, part));
    } else if (of !== null && typeof of === 'object' && typeof part === 'object' && part !== null) {
      passed = Object.keys(part).every((key) => key in of && this.__same(of[key], part[key]));
    } else passed = false;
    return this.__test(passed, `to include ${shown(part)}`);
  }
  for (const name of ['include', 'includes', 'contain', 'contains']) callable(name, { contains: true }, includes);
  for (const name of ['lengthOf', 'length']) {
    callable(name, { length: true }, function (wanted) {
      return this.__test(lengthOf(this.__value) === wanted, `to have a length of ${wanted}`);
    });
  }

  const getter = (name, get) => Object.defineProperty(Assertion.prototype, name, { get });
  for (const name of CHAIN)
    getter(name, function () {
      return this;
    });
  for (const name of FLAGS)
    getter(name, function () {
      return this.__with({ [name]: true });
    });
  const isEmpty = (value) => (lengthOf(value) ?? Object.keys(Object(value)).length) === 0;
  const STATES = {
    ok: ['truthy', (value) => Boolean(value)],
    true: ['true', (value) => value === true],
    false: ['false', (value) => value === false],
    null: ['null', (value) => value === null],
    undefined: ['undefined', (value) => value === undefined],
    NaN: ['NaN', (value) => Number.isNaN(value)],
    finite: ['a finite number', (value) => Number.isFinite(value)],
    exist: ['defined', (value) => value !== null && value !== undefined],
    empty: ['empty', isEmpty],
  };
  for (const [name, [what, accepts]] of Object.entries(STATES)) {
    getter(name, function () {
      return this.__test(accepts(this.__value), `to be ${what}`);
    });
  }
  const ALIASES = {
    equals: 'equal',
    eq: 'equal',
    eqls: 'eql',
    gt: 'above',
    greaterThan: 'above',
    gte: 'least',
    greaterThanOrEqual: 'least',
    lt: 'below',
    lessThan: 'below',
    lte: 'most',
    lessThanOrEqual: 'most',
    matches: 'match',
    key: 'keys',
    instanceof: 'instanceOf',
    throws: 'throw',
    Throw: 'throw',
    satisfies: 'satisfy',
    approximately: 'closeTo',
  };
  for (const [name, of] of Object.entries(ALIASES)) Assertion.prototype[name] = Assertion.prototype[of];

  exports.expect = (value, label) => new Assertion(value, label);
  exports.expect.fail = (message = 'failed') => {
    native.check(null, { [message]: false });
    throw new AssertionError(message);
  };

  // A group that ends at the first expectation that is not met.
  exports.describe = (name, body) => {
    let passed = true;
    group(name, () => {
      try {
        body();
      } catch (error) {
        passed = false;
        if (!(error instanceof AssertionError)) {
          console.error(`describe \`${name}\`: ${error?.stack ?? error}`);
          native.check(null, { [`no exception, but: ${error}`]: false });
          if (config.exitOnError) throw error;
        }
      }
    });
    return passed;
  };
  const chai = { expect: exports.expect, config, AssertionError };
  Object.assign(exports, { chai, config, AssertionError, Assertion });
  exports.default = { ...chai, describe: exports.describe };
})
