(function (native) {
  'use strict';
  // Factories and shared module objects of this realm.
  const factories = [];
  const shared = new Map();
  const factory = (i) => factories[i] ?? (factories[i] = native.factory(i));

  const bodies = new Map();
  function body(name) {
    let found = bodies.get(name);
    if (found === undefined) bodies.set(name, (found = native.builtin(name, native)));
    return found;
  }

  function builtin(name) {
    let found = shared.get(name);
    if (found === undefined) {
      found = {};
      shared.set(name, found);
      body(name)(found, builtin, native);
      if (seen !== undefined) note(name, found);
    }
    return found;
  }

  // What the users of a realm share, and must not change: the objects that the global one and built-in modules lead to.
  // The source of a script shows most changes before the run; the others are found by comparison.
  const { getOwnPropertyDescriptor: describe, hasOwn, is } = Object;
  const { getPrototypeOf, ownKeys } = Reflect;
  const { startsWith } = String.prototype;
  const objects = [];
  let seen;

  // What a property has: a value, or a function for it and one to change it.
  function contents(object, key) {
    const of = describe(object, key);
    return 'value' in of ? [of.value, undefined] : [of.get, of.set];
  }

  // Global objects that are compiled at their first use become values then, and those without a public name are caches.
  const isLate = (object, key) =>
    object === globalThis && typeof key === 'string' && (key in GLOBALS || startsWith.call(key, '__plimsoll_'));

  function note(root, of) {
    // Prototypes come last, because most have a better name.
    const [open, last] = [[[root, of]], []];
    for (let next = 0; next < open.length || last.length > 0; next++) {
      if (next === open.length) open.push(last.pop());
      const [name, object] = open[next];
      if (object === null || (typeof object !== 'object' && typeof object !== 'function') || seen.has(object)) continue;
      seen.add(object);
      const [keys, prototype, all] = [ownKeys(object), getPrototypeOf(object), []];
      last.push([`the prototype of ${name}`, prototype]);
      for (const key of keys) {
        const found = isLate(object, key) ? [] : contents(object, key);
        all.push(found[0], found[1]);
        const inner = typeof key === 'symbol' ? `${name}[${String(key)}]` : `${name}${name === '' ? '' : '.'}${key}`;
        for (const one of found) open.push([inner, one]);
      }
      objects.push({ name, object, keys, prototype, all });
    }
  }

  // Notes what users share; call it before the first of them.
  function watch() {
    seen = new Set();
    note('', globalThis);
    for (const one of [
      function* () {}, async () => {}, async function* () {}, [].values(), ''[Symbol.iterator](), new Map().values(),
      new Set().values(), 'a'.matchAll(/a/g),
    ]) note('a prototype', getPrototypeOf(one));
    for (const [name, module] of shared) note(name, module);
  }

  // Returns the name of something that was changed since, or undefined.
  function changed() {
    for (const { name, object, keys, prototype, all } of objects) {
      const now = ownKeys(object);
      const named = (key) => `${name}${name === '' ? '' : '.'}${String(key)}`;
      for (let at = 0; at < now.length; at++) {
        const key = now[at];
        if (!is(key, keys[at])) return named(at < keys.length && !hasOwn(object, keys[at]) ? keys[at] : key);
        if (isLate(object, key)) continue;
        const [value, setter] = contents(object, key);
        if (!is(value, all[2 * at]) || !is(setter, all[2 * at + 1])) return named(key);
      }
      if (now.length < keys.length) return named(keys[now.length]);
      if (getPrototypeOf(object) !== prototype) return `the prototype of ${name}`;
    }
    return undefined;
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
  // As in k6, the stack of an error begins with its message, and has places in the files of the script.
  const { get: stack, set } = describe(Error.prototype, 'stack');
  const { apply } = Reflect;
  Object.defineProperty(Error.prototype, 'stack', {
    configurable: true,
    get() { return native.stack(this, apply(stack, this, [])); },
    set,
  });
  const GLOBALS = {
    __proto__: null,
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
    // Objects with members of their own are larger: only for scripts that may list them.
    const front = native.isListed(name)
      ? (one) => Object.defineProperties({}, Object.getOwnPropertyDescriptors(one))
      : Object.create;
    const mine = front(of);
    if (typeof of.default === 'object' && of.default !== null) mine.default = front(of.default);
    return mine;
  }

  // With `wantsPeek`, the result can tell the values of variables at the top level of modules.
  function instantiate(wantsPeek) {
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
  }
  return Object.assign(instantiate, { watch, changed });
})
