(function (exports, require, native) {
  'use strict';
  // The readable streams of the WHATWG standard, with readers; other parts are refused by name.
  const states = new WeakMap();
  const of = (stream) => {
    const found = states.get(stream);
    if (found === undefined) throw new TypeError('a ReadableStream is required');
    return found;
  };

  function deferred() {
    const one = {};
    one.promise = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
    // Who does not ask does not have to handle the rejection.
    one.promise.catch(() => {});
    return one;
  }

  function settle(state) {
    while (state.requests.length > 0) {
      if (state.queue.length > 0) {
        const { value, size } = state.queue.shift();
        state.total -= size;
        state.requests.shift().resolve({ value, done: false });
      } else if (state.isErrored) state.requests.shift().reject(state.error);
      else if (state.isClosing) state.requests.shift().resolve({ value: undefined, done: true });
      else break;
    }
    if (state.isErrored) state.ended.reject(state.error);
    else if (state.isClosing && state.queue.length === 0) state.ended.resolve(undefined);
  }

  // Asks the source for more, one call at a time.
  async function pull(state) {
    const wants = state.requests.length > 0 || state.limit - state.total > 0;
    if (!state.isStarted || state.isPulling || state.isClosing || state.isErrored || !wants) return;
    if (typeof state.source.pull !== 'function') return;
    state.isPulling = true;
    const before = state.count;
    try {
      await state.source.pull(state.controller);
    } catch (error) {
      fail(state, error);
    }
    state.isPulling = false;
    // A source that gave nothing is asked again only when the next read comes.
    if (state.count > before) pull(state);
  }

  function fail(state, error) {
    if (state.isErrored || state.isClosing) return;
    Object.assign(state, { isErrored: true, error, queue: [], total: 0 });
    settle(state);
  }

  class ReadableStreamDefaultController {
    #state;
    constructor(state) {
      this.#state = state;
    }
    get desiredSize() {
      const state = this.#state;
      return state.isErrored ? null : state.isClosing ? 0 : state.limit - state.total;
    }
    enqueue(value) {
      const state = this.#state;
      if (state.isClosing || state.isErrored) throw new TypeError('the stream takes no more values');
      const size = state.size(value);
      if (!(size >= 0) || size === Infinity) {
        const error = new RangeError('invalid size of a value');
        fail(state, error);
        throw error;
      }
      state.queue.push({ value, size });
      state.total += size;
      state.count++;
      settle(state);
      pull(state);
    }
    close() {
      const state = this.#state;
      if (state.isClosing || state.isErrored) throw new TypeError('the stream is closed');
      state.isClosing = true;
      settle(state);
    }
    error(error) {
      fail(this.#state, error);
    }
  }

  class ReadableStreamDefaultReader {
    #stream;
    constructor(stream) {
      const state = of(stream);
      if (state.reader !== undefined) throw new TypeError('the stream is locked');
      state.reader = this;
      this.#stream = stream;
    }
    get closed() {
      return this.#stream === undefined
        ? Promise.reject(new TypeError('the reader was released'))
        : of(this.#stream).ended.promise;
    }
    async read() {
      if (this.#stream === undefined) throw new TypeError('the reader was released');
      const state = of(this.#stream);
      const request = deferred();
      state.requests.push(request);
      settle(state);
      pull(state);
      return request.promise;
    }
    async cancel(reason) {
      if (this.#stream === undefined) throw new TypeError('the reader was released');
      return cancel(of(this.#stream), reason);
    }
    releaseLock() {
      if (this.#stream === undefined) return;
      const state = of(this.#stream);
      state.requests.splice(0).forEach((request) => request.reject(new TypeError('the reader was released')));
      state.reader = undefined;
      this.#stream = undefined;
    }
  }

  async function cancel(state, reason) {
    if (state.isErrored) throw state.error;
    if (state.isClosing && state.queue.length === 0) return undefined;
    Object.assign(state, { isClosing: true, queue: [], total: 0 });
    settle(state);
    await state.source.cancel?.(reason);
    return undefined;
  }

  class ReadableStream {
    constructor(source = {}, strategy = {}) {
      if (source.type !== undefined) throw new RangeError(`a stream of type \`${source.type}\` is not supported`);
      const limit = strategy.highWaterMark ?? 1;
      if (!(limit >= 0)) throw new RangeError('invalid highWaterMark');
      const state = {
        source,
        limit,
        size: strategy.size ?? (() => 1),
        queue: [],
        total: 0,
        count: 0,
        requests: [],
        ended: deferred(),
        isStarted: false,
        isPulling: false,
        isClosing: false,
        isErrored: false,
      };
      states.set(this, state);
      state.controller = new ReadableStreamDefaultController(state);
      const started = source.start?.(state.controller);
      Promise.resolve(started).then(
        () => {
          state.isStarted = true;
          pull(state);
        },
        (error) => fail(state, error),
      );
    }
    get locked() {
      return of(this).reader !== undefined;
    }
    getReader(options = {}) {
      if (options.mode !== undefined) throw new RangeError(`a reader of mode \`${options.mode}\` is not supported`);
      return new ReadableStreamDefaultReader(this);
    }
    async cancel(reason) {
      if (this.locked) throw new TypeError('the stream is locked');
      return cancel(of(this), reason);
    }
    async *values() {
      const reader = this.getReader();
      try {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) return;
          yield value;
        }
      } finally {
        reader.releaseLock();
      }
    }
    [Symbol.asyncIterator]() {
      return this.values();
    }
  }
  for (const name of ['tee', 'pipeTo', 'pipeThrough']) {
    ReadableStream.prototype[name] = () => {
      throw new Error(`ReadableStream.${name}() is not supported`);
    };
  }

  exports.CountQueuingStrategy = class CountQueuingStrategy {
    constructor({ highWaterMark }) {
      this.highWaterMark = highWaterMark;
      this.size = () => 1;
    }
  };
  Object.assign(exports, { ReadableStream, ReadableStreamDefaultReader });
  exports.default = { ...exports };
})
