(function (native) {
  'use strict';
  // Factories and shared module objects of this realm.
  const factories = [];
  const shared = new Map();
  const factory = (i) => factories[i] ?? (factories[i] = native.factory(i));

  function builtin(name) {
    let found = shared.get(name);
    if (found === undefined) {
      found = {};
      shared.set(name, found);
      native.builtin(name)(found, builtin, native);
    }
    return found;
  }

  // A user may replace functions of a module for itself, so it gets objects of its own in front of the shared ones.
  function own(name) {
    const of = builtin(name);
    const mine = Object.create(of);
    if (typeof of.default === 'object' && of.default !== null) mine.default = Object.create(of.default);
    return mine;
  }

  function namespace(module) {
    const of = module.exports;
    if (of !== null && (typeof of === 'object' || typeof of === 'function') && of.__esModule) return of;
    if (module.namespace === undefined || module.of !== of) {
      module.of = of;
      module.namespace = Object.create(of !== null && typeof of === 'object' ? of : null, { default: { value: of } });
      if (typeof of === 'function') for (const key of Object.keys(of)) module.namespace[key] = of[key];
    }
    return module.namespace;
  }

  return function instantiate() {
    const modules = [];
    const builtins = new Map();
    const peeks = [];
    const imported = (i, k, isEsm) => {
      const of = native.imported(i, k);
      if (typeof of === 'number') {
        const module = load(of);
        return isEsm && native.isCommon(of) ? namespace(module) : module.exports;
      }
      if (typeof of === 'object') return isEsm ? { default: of.json } : of.json;
      let found = builtins.get(of);
      if (found === undefined) builtins.set(of, (found = own(of)));
      return found;
    };
    function load(i) {
      if (modules[i] !== undefined) return modules[i];
      const module = { exports: {} };
      modules[i] = module;
      const isEsm = !native.isCommon(i);
      const meta = { index: i, url: native.moduleUrl(i), resolve: (name) => native.resolve(i, name) };
      factory(i)(module.exports, (k) => imported(i, k, isEsm), module, meta);
      if (typeof module.peek === 'function') peeks.push(module.peek);
      return module;
    }
    const entry = load(native.entry());
    return { exports: entry.exports, peek: () => peeks.map((peek) => peek()) };
  };
})
