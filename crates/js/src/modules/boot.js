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

  // With `wantsPeek`, the result can tell the values of variables at the top level of modules.
  return function instantiate(wantsPeek) {
    const modules = [];
    const builtins = new Map();
    const peeks = [];
    const imported = (i, k) => {
      if (typeof k === 'string') throw new Error(`module \`${k}\` was not found before the run`);
      const of = native.imported(i, k);
      if (typeof of === 'number') return load(of).exports;
      if (typeof of === 'object') return of.json;
      let found = builtins.get(of);
      if (found === undefined) builtins.set(of, (found = own(of)));
      return found;
    };
    function load(i) {
      if (modules[i] !== undefined) return modules[i];
      const module = { exports: {}, peek: wantsPeek };
      modules[i] = module;
      const meta = { url: native.moduleUrl(i), resolve: (name) => native.resolve(i, name) };
      const self = native.isCommon(i) ? module.exports : undefined;
      factory(i).call(self, module.exports, (k) => imported(i, k), module, meta);
      if (typeof module.peek === 'function') peeks.push(module.peek);
      return module;
    }
    const entry = load(native.entry());
    return { exports: entry.exports, peek: () => peeks.map((peek) => peek()) };
  };
})
