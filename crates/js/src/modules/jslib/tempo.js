(function (exports, require, native) {
  'use strict';
  // Adds a trace context to requests (W3C Trace Context, or the header of Jaeger).
  const PROPAGATORS = {
    w3c: (trace, span, isSampled) => ({ traceparent: `00-${trace}-${span}-${isSampled ? '01' : '00'}` }),
    jaeger: (trace, span, isSampled) => ({ 'uber-trace-id': `${trace}:${span}:0:${isSampled ? 1 : 0}` }),
  };

  function settingsOf(options = {}) {
    const propagator = options.propagator ?? 'w3c';
    if (!Object.hasOwn(PROPAGATORS, propagator)) throw new Error(`unknown propagator \`${propagator}\``);
    const sampling = options.sampling ?? 1;
    if (!(sampling >= 0 && sampling <= 1)) throw new Error('the sampling must be from 0 to 1');
    return { propagator, sampling };
  }

  function header({ propagator, sampling }) {
    const hex = native.hex(native.randomBytes(24));
    return PROPAGATORS[propagator](hex.slice(0, 32), hex.slice(32), Math.random() < sampling);
  }
  const traced = (params, settings) => ({ ...params, headers: { ...header(settings), ...params?.headers } });

  // Where the parameters are among the arguments of each function.
  const PLACES = { get: 1, head: 1, post: 2, put: 2, patch: 2, del: 2, options: 2, request: 3, asyncRequest: 3 };

  function wrapped(http, settings) {
    const all = {};
    for (const [name, place] of Object.entries(PLACES)) {
      const send = http[name];
      all[name] = (...args) => {
        while (args.length < place) args.push(null);
        args[place] = traced(args[place], settings());
        return send(...args);
      };
    }
    const { batch } = http;
    const one = (entry) => {
      if (Array.isArray(entry)) return [entry[0], entry[1], entry[2], traced(entry[3], settings())];
      if (typeof entry === 'object' && entry !== null && (entry.method !== undefined || entry.params !== undefined)) {
        return { ...entry, params: traced(entry.params, settings()) };
      }
      return ['GET', entry, null, traced(undefined, settings())];
    };
    all.batch = (entries) =>
      Array.isArray(entries)
        ? batch(entries.map(one))
        : batch(Object.fromEntries(Object.entries(entries).map(([key, entry]) => [key, one(entry)])));
    return all;
  }

  let current;
  // Replaces the functions for this user only.
  exports.instrumentHTTP = (options) => {
    const isFirst = current === undefined;
    current = settingsOf(options);
    if (!isFirst) return;
    const own = require('k6/http');
    const all = wrapped(
      Object.fromEntries([...Object.keys(PLACES), 'batch'].map((name) => [name, own.default[name]])),
      () => current,
    );
    Object.assign(own.default, all);
    Object.assign(own, all);
  };

  exports.Client = class Client {
    constructor(options) {
      this.configure(options);
      Object.assign(
        this,
        wrapped(require('k6/http').default, () => this.__settings),
      );
    }
    configure(options) {
      Object.defineProperty(this, '__settings', { value: settingsOf(options), writable: true, configurable: true });
    }
  };
  exports.default = { instrumentHTTP: exports.instrumentHTTP, Client: exports.Client };
})
