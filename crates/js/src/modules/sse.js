(function (exports, require, native) {
  'use strict';
  const EVENTS = ['open', 'event', 'error'];

  class Client {
    #number;
    #handlers = new Map();
    #isClosed = false;

    constructor(number) {
      this.#number = number;
    }

    on(event, handler) {
      if (!EVENTS.includes(event)) throw new TypeError(`unknown event of a stream: \`${event}\``);
      if (typeof handler !== 'function') throw new TypeError('client.on() requires a function');
      this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), handler]);
    }

    close() {
      if (this.#isClosed) return;
      this.#isClosed = true;
      native.channelClose(this.#number);
    }

    #emit(event, ...values) {
      for (const handler of this.#handlers.get(event) ?? []) handler(...values);
    }

    // Runs the handlers until the stream ends; `news` is the first of what arrives.
    static run(client, news) {
      for (;;) {
        const [kind, ...values] = news;
        if (kind === 'end') return client.#end(values[0]);
        if (!client.#isClosed && kind === 'open') client.#emit('open');
        if (!client.#isClosed && kind === 'event') client.#event(...values);
        news = native.channelNext(client.#number);
      }
    }

    #event(id, name, data) {
      this.#emit('event', { id, name, data, comment: '' });
    }

    #end(error) {
      this.#isClosed = true;
      if (error !== '') this.#emit('error', { error: () => error, toString: () => error });
      return error;
    }
  }

  function open(url, params, setup) {
    if (typeof params === 'function') [params, setup] = [undefined, params];
    if (typeof setup !== 'function') throw new TypeError('sse.open() requires a function that sets up the client');
    const number = native.eventsOpen(url, params);
    try {
      const client = new Client(number);
      const news = native.channelNext(number);
      setup(client);
      const error = Client.run(client, news);
      const { throws, ...response } = native.channelResponse(number);
      if (error !== '' && throws) throw new Error(error);
      return response;
    } finally {
      native.channelRelease(number);
    }
  }

  exports.open = open;
  exports.default = { open };
})
