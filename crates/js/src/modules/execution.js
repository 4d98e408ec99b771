(function (exports, require, native) {
  'use strict';
  const getters = (names, of) =>
    Object.defineProperties(
      {},
      Object.fromEntries(names.map((name) => [name, { enumerable: true, get: () => native.execution(of, name) }])),
    );
  exports.scenario = getters(
    ['name', 'executor', 'startTime', 'progress', 'iterationInInstance', 'iterationInTest'],
    'scenario',
  );
  exports.instance = getters(
    ['iterationsInterrupted', 'iterationsCompleted', 'vusActive', 'vusInitialized', 'currentTestRunDuration'],
    'instance',
  );
  const tags = new Proxy({}, {
    get: (_, name) => (typeof name === 'string' ? native.tag(name) : undefined),
    set: (_, name, value) => {
      if (value === undefined) throw new TypeError(`the tag \`${String(name)}\` must not be undefined`);
      return native.setTag(name, value);
    },
    deleteProperty: (_, name) => native.setTag(name, undefined),
    has: (_, name) => native.tag(name) !== undefined,
    ownKeys: () => native.tagNames(),
    getOwnPropertyDescriptor: (_, name) => {
      const value = native.tag(name);
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
  // Metadata of a user: texts, which only the script reads.
  const own = () => native.metadata() ?? native.metadata({ __proto__: null });
  const metadata = new Proxy({}, {
    get: (_, name) => own()[name],
    set: (_, name, value) => {
      if (!['string', 'number', 'boolean'].includes(typeof value)) {
        throw new TypeError(`the metadata \`${String(name)}\` must be a text, a number, or a boolean`);
      }
      own()[name] = String(value);
      return true;
    },
    deleteProperty: (_, name) => delete own()[name],
    has: (_, name) => name in own(),
    ownKeys: () => Reflect.ownKeys(own()),
    getOwnPropertyDescriptor: (_, name) => Object.getOwnPropertyDescriptor(own(), name),
  });
  exports.vu = getters(['idInInstance', 'idInTest', 'iterationInInstance', 'iterationInScenario'], 'vu');
  Object.defineProperties(exports.vu, {
    tags: { enumerable: true, get: () => tags, set: (all) => Object.assign(tags, all) },
    metrics: { enumerable: true, value: { get tags() { return tags; }, get metadata() { return metadata; } } },
  });
  exports.test = {
    abort: (message) => native.abort(message === undefined ? 'test aborted' : `test aborted: ${message}`),
    fail: (message) => native.failTest(message === undefined ? '' : String(message)),
    get options() {
      return JSON.parse(native.options());
    },
  };
  const { scenario, instance, vu, test } = exports;
  exports.default = { scenario, instance, vu, test };
})
