(function (exports, require, native) {
  'use strict';
  const { Blob, bytesOf } = require('~blob');
  const STATES = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
  const EVENTS = ['open', 'message', 'error', 'close', 'ping', 'pong'];

  class WebSocket {
    #number;
    #url;
    #state = STATES.CONNECTING;
    #protocol = '';
    #extensions = '';
    #binaryType = 'blob';
    // Functions of `on…`, and of `addEventListener()`, by event.
    #properties = new Map();
    #listeners = new Map();

    constructor(url, protocols, params) {
      if (new.target === undefined) throw new TypeError('a WebSocket requires `new`');
      if (url === undefined) throw new TypeError('a WebSocket requires a URL');
      this.#url = String(url);
      this.#number = native.socketOpen(this.#url, protocols, params, (...news) => this.#take(...news));
    }

    get url() { return this.#url; }
    get readyState() { return this.#state; }
    get protocol() { return this.#protocol; }
    get extensions() { return this.#extensions; }
    // What is sent is handed over at once.
    get bufferedAmount() { return 0; }
    get binaryType() { return this.#binaryType; }

    set binaryType(type) {
      if (type !== 'blob' && type !== 'arraybuffer') {
        throw new TypeError(`unknown binaryType \`${type}\`: use \`blob\` or \`arraybuffer\``);
      }
      this.#binaryType = type;
    }

    addEventListener(event, listener) {
      check(event);
      if (typeof listener !== 'function') throw new TypeError('addEventListener() requires a function');
      const all = this.#listeners.get(event) ?? [];
      if (!all.includes(listener)) this.#listeners.set(event, [...all, listener]);
    }

    removeEventListener(event, listener) {
      check(event);
      this.#listeners.set(event, (this.#listeners.get(event) ?? []).filter((one) => one !== listener));
    }

    send(data) {
      this.#requireOpen('send()');
      if (data === undefined || data === null) throw new TypeError('send() requires a message');
      const isBytes = data instanceof ArrayBuffer || ArrayBuffer.isView(data);
      native.socketSend(this.#number, data instanceof Blob ? bytesOf(data) : isBytes ? data : String(data));
    }

    ping() {
      this.#requireOpen('ping()');
      native.socketPing(this.#number);
    }

    close(code, reason) {
      if (this.#state === STATES.CLOSING || this.#state === STATES.CLOSED) return;
      native.channelClose(this.#number, code, reason);
      this.#state = STATES.CLOSING;
    }

    #requireOpen(what) {
      if (this.#state === STATES.OPEN) return;
      const state = Object.keys(STATES)[this.#state];
      const error = new Error(`InvalidStateError: ${what} requires an open WebSocket, but this one is ${state}`);
      error.name = 'InvalidStateError';
      throw error;
    }

    #take(kind, ...values) {
      switch (kind) {
        case 'open': return this.#open();
        case 'text': return this.#emit('message', { data: values[0], origin: this.#url });
        case 'binary': return this.#emit('message', { data: this.#binary(values[0]), origin: this.#url });
        case 'end': return this.#end(...values);
        default: return this.#emit(kind, {});
      }
    }

    #open() {
      if (this.#state !== STATES.CONNECTING) return;
      const { headers } = native.channelResponse(this.#number);
      this.#protocol = headers['Sec-Websocket-Protocol'] ?? '';
      this.#extensions = headers['Sec-Websocket-Extensions'] ?? '';
      this.#state = STATES.OPEN;
      this.#emit('open', {});
    }

    #binary(buffer) {
      return this.#binaryType === 'blob' ? new Blob([buffer]) : buffer;
    }

    #end(error, code, reason, wasClean) {
      this.#state = STATES.CLOSED;
      if (error !== '') this.#emit('error', { error });
      this.#emit('close', { code, reason, wasClean });
    }

    #emit(type, fields) {
      const event = { type, target: this, timestamp: Date.now(), ...fields };
      const property = this.#properties.get(type);
      if (property !== undefined) property.call(this, event);
      for (const listener of this.#listeners.get(type) ?? []) listener.call(this, event);
    }

    static {
      for (const event of EVENTS) {
        Object.defineProperty(this.prototype, `on${event}`, {
          configurable: true,
          get() { return this.#properties.get(event) ?? null; },
          set(handler) {
            if (typeof handler === 'function') this.#properties.set(event, handler);
            else this.#properties.delete(event);
          },
        });
      }
      for (const [name, value] of Object.entries(STATES)) {
        Object.defineProperty(this, name, { value, enumerable: true });
        Object.defineProperty(this.prototype, name, { value, enumerable: true });
      }
    }
  }

  function check(event) {
    if (!EVENTS.includes(event)) throw new TypeError(`unknown event of a WebSocket: \`${event}\``);
  }

  exports.WebSocket = WebSocket;
  exports.Blob = Blob;
  exports.default = { WebSocket, Blob };
})
