(function (exports, require, native) {
  'use strict';
  const { equal, inspect } = require('~equal');
  const DEFAULTS = { soft: false, softMode: 'fail', timeout: 5000, interval: 100, colorize: true, display: 'pretty' };

  class AssertionFailed extends Error {
    get name() {
      return 'AssertionFailed';
    }
  }

  // Some keys of `part` may be missing in `of`, at every depth.
  function contains(of, part) {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return equal(of, part);
    return (
      of !== null &&
      typeof of === 'object' &&
      Object.keys(part).every((key) => key in of && contains(of[key], part[key]))
    );
  }
  const without = (value) => {
    if (Array.isArray(value)) return value.map(without);
    if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([key, one]) => [key, without(one)]),
    );
  };
  const PROPERTY = (path) =>
    String(path)
      .replace(/\[(\d+)\]/g, '.$1')
      .split('.');
  function property(of, path) {
    let found = of;
    for (const key of Array.isArray(path) ? path : PROPERTY(path)) {
      if (found === null || found === undefined || !(key in Object(found))) return { has: false };
      found = found[key];
    }
    return { has: true, found };
  }
  const includes = (of, part, same) =>
    typeof of === 'string' ? of.includes(part) : [...of].some((one) => same(one, part));

  const MATCHERS = {
    toBe: [(of, other) => Object.is(of, other), 'to be'],
    toEqual: [(of, other) => equal(without(of), without(other)), 'to equal'],
    toStrictEqual: [(of, other) => equal(of, other), 'to strictly equal'],
    toBeCloseTo: [(of, other, digits = 2) => Math.abs(of - other) < 10 ** -digits / 2, 'to be close to'],
    toBeDefined: [(of) => of !== undefined, 'to be defined'],
    toBeUndefined: [(of) => of === undefined, 'to be undefined'],
    toBeNull: [(of) => of === null, 'to be null'],
    toBeNaN: [(of) => Number.isNaN(of), 'to be NaN'],
    toBeTruthy: [(of) => Boolean(of), 'to be truthy'],
    toBeFalsy: [(of) => !of, 'to be falsy'],
    toBeGreaterThan: [(of, other) => of > other, 'to be greater than'],
    toBeGreaterThanOrEqual: [(of, other) => of >= other, 'to be at least'],
    toBeLessThan: [(of, other) => of < other, 'to be less than'],
    toBeLessThanOrEqual: [(of, other) => of <= other, 'to be at most'],
    toBeInstanceOf: [(of, type) => of instanceof type, 'to be an instance of'],
    toContain: [(of, part) => includes(of, part, (one, other) => one === other), 'to contain'],
    toContainEqual: [(of, part) => includes(of, part, equal), 'to contain'],
    toHaveLength: [(of, length) => of?.length === length, 'to have the length'],
    toMatch: [
      (of, pattern) => (pattern instanceof RegExp ? pattern.test(of) : String(of).includes(pattern)),
      'to match',
    ],
    toMatchObject: [(of, part) => contains(of, part), 'to match'],
    toHaveProperty: [
      (of, path, ...value) => {
        const { has, found } = property(of, path);
        return has && (value.length === 0 || equal(found, value[0]));
      },
      'to have the property',
    ],
    toThrow: [
      (of, wanted) => {
        try {
          of();
        } catch (error) {
          if (wanted === undefined) return true;
          if (typeof wanted === 'function') return error instanceof wanted;
          const message = error?.message ?? String(error);
          return wanted instanceof RegExp ? wanted.test(message) : message.includes(wanted?.message ?? wanted);
        }
        return false;
      },
      'to throw',
    ],
  };
  // Matchers of pages in a browser.
  const OF_BROWSER = [
    'toBeChecked',
    'toBeDisabled',
    'toBeEditable',
    'toBeEnabled',
    'toBeHidden',
    'toBeVisible',
    'toHaveAttribute',
    'toHaveText',
    'toContainText',
    'toHaveTitle',
    'toHaveURL',
    'toHaveValue',
    'toBeAttached',
    'toBeFocused',
    'toBeInViewport',
    'toHaveCount',
    'toBeEmpty',
  ];

  function fail(message, settings) {
    if (!settings.soft) native.abort(message);
    if (settings.softMode === 'throw') throw new AssertionFailed(message);
    console.error(message);
    native.failTest(message);
  }

  function matchers(value, message, settings, isNegated) {
    const all = {};
    for (const [name, [accepts, what]] of Object.entries(MATCHERS)) {
      all[name] = (...args) => {
        if (Boolean(accepts(value, ...args)) !== isNegated) return;
        const wanted = args.map((one) => ` ${inspect(one)}`).join('');
        const sentence = `expected ${inspect(value)} ${isNegated ? 'not ' : ''}${what}${wanted}`;
        fail(message === undefined ? sentence : `${message}: ${sentence}`, settings);
      };
    }
    for (const name of OF_BROWSER) {
      all[name] = () => {
        throw new Error(`expect().${name}() is not supported: there is no browser`);
      };
    }
    return all;
  }

  function make(settings) {
    const expect = (value, message) => {
      const all = matchers(value, message, settings, false);
      Object.defineProperty(all, 'not', { get: () => matchers(value, message, settings, true) });
      return all;
    };
    expect.configure = (own) => make({ ...settings, ...own });
    Object.defineProperty(expect, 'soft', { get: () => make({ ...settings, soft: true }) });
    return expect;
  }

  exports.expect = make(DEFAULTS);
  exports.default = exports.expect;
})
