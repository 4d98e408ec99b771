(function (native) {
  'use strict';
  // Factories and shared module objects of this realm.
  const factories = [];
  const shared = new Map();
  const factory = (i) => factories[i] ?? (factories[i] = native.factory(i));

  const bodies = new Map();
  function body(name) {
    let found = bodies.get(name);
    if (found === undefined) bodies.set(name, (found = native.builtin(name)));
    return found;
  }

  function builtin(name) {
    let found = shared.get(name);
    if (found === undefined) {
      found = {};
      shared.set(name, found);
      body(name)(found, builtin, native);
    }
    return found;
  }

  // Methods of responses, and global objects, that are JavaScript: compiled at their first use.
  const response = globalThis.__plimsoll_response;
  delete globalThis.__plimsoll_response;
  // Most selectors are plain names, for which the body is not parsed. Any other value is an object of its own.
  const OTHER = {};
  const json = {
    json(selector) {
      if (typeof selector === 'string') {
        const found = native.responseJsonAt.call(this, selector, OTHER);
        if (found !== OTHER) return found;
      }
      return builtin('~response').json(this, selector);
    },
  };
  Object.defineProperty(response, 'json', { value: json.json, writable: true, configurable: true });
  for (const name of ['html', 'submitForm', 'clickLink', 'toJSON']) {
    const method = { [name](...all) { return builtin('~response')[name](this, ...all); } };
    Object.defineProperty(response, name, { value: method[name], writable: true, configurable: true });
  }
  const GLOBALS = {
    URL: '~url', URLSearchParams: '~url', TextEncoder: '~text', TextDecoder: '~text', atob: '~text', btoa: '~text',
    crypto: '~webcrypto', structuredClone: '~clone', performance: '~performance',
  };
  for (const [name, module] of Object.entries(GLOBALS)) {
    const set = (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        const value = builtin(module)[name];
        set(value);
        return value;
      },
      set,
    });
  }

  // Libraries with a state, of which each user has its own instance.
  const STATEFUL = ['jslib/httpx', 'jslib/k6chaijs', 'jslib/tempo'];

  // A user may replace functions of a module for itself, so it gets objects of its own in front of the shared ones.
  function own(name, ownBuiltin) {
    if (STATEFUL.includes(name)) {
      const library = {};
      body(name)(library, (inner) => (inner.startsWith('~') ? builtin(inner) : ownBuiltin(inner)), native);
      return library;
    }
    const of = builtin(name);
    const mine = Object.create(of);
    if (typeof of.default === 'object' && of.default !== null) mine.default = Object.create(of.default);
    return mine;
  }

  // With `wantsPeek`, the result can tell the values of variables at the top level of modules.
  return function instantiate(wantsPeek) {
    const modules = [];
    const builtins = new Map();
    const peeks = [];
    const ownBuiltin = (name) => {
      let found = builtins.get(name);
      if (found === undefined) builtins.set(name, (found = own(name, ownBuiltin)));
      return found;
    };
    const imported = (i, k) => {
      if (typeof k === 'string') throw new Error(`module \`${k}\` was not found before the run`);
      const of = native.imported(i, k);
      if (typeof of === 'number') {
        const module = load(of);
        return module.ready ?? module.exports;
      }
      return typeof of === 'object' ? of.json : ownBuiltin(of);
    };
    function load(i) {
      if (modules[i] !== undefined) return modules[i];
      const module = { exports: {}, peek: wantsPeek };
      modules[i] = module;
      const meta = { url: native.moduleUrl(i), resolve: (name) => native.resolve(i, name) };
      const self = native.isCommon(i) ? module.exports : undefined;
      // `open()` is relative to the module whose top level runs.
      const outer = native.evaluating(i);
      let result;
      try {
        result = factory(i).call(self, module.exports, (k) => imported(i, k), module, meta);
      } finally {
        native.evaluating(outer);
      }
      // A module that awaits at its top level.
      if (result instanceof Promise) module.ready = result.then(() => module.exports);
      if (typeof module.peek === 'function') peeks.push(module.peek);
      return module;
    }
    const entry = load(native.entry());
    return { exports: entry.exports, ready: entry.ready, peek: () => peeks.map((peek) => peek()) };
  };
})
