(function (exports, require, native) {
  'use strict';
  const EVENTS = ['open', 'message', 'binaryMessage', 'ping', 'pong', 'close', 'error'];
  // The code of `Socket.close()` without one.
  const GOING_AWAY = 1001;

  class Socket {
    #number;
    #handlers = new Map();
    #timers = new Map();
    #isClosed = false;

    constructor(number) {
      this.#number = number;
    }

    on(event, handler) {
      if (!EVENTS.includes(event)) throw new TypeError(`unknown event of a WebSocket: \`${event}\``);
      if (typeof handler !== 'function') throw new TypeError('socket.on() requires a function');
      this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), handler]);
    }

    send(data) {
      if (data === undefined || data === null) throw new TypeError('socket.send() requires a message');
      this.#sent(native.socketSend(this.#number, String(data)));
    }

    sendBinary(data) {
      if (!(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data)) {
        throw new TypeError('socket.sendBinary() requires an ArrayBuffer');
      }
      this.#sent(native.socketSend(this.#number, data));
    }

    ping() {
      this.#sent(native.socketPing(this.#number));
    }

    close(code = GOING_AWAY) {
      if (this.#isClosed) return;
      native.channelClose(this.#number, code);
      this.#isClosed = true;
      this.#emit('close', code);
    }

    setTimeout(callback, delay) {
      this.#startTimer(callback, delay, false);
    }

    setInterval(callback, interval) {
      this.#startTimer(callback, interval, true);
    }

    #startTimer(callback, delay, repeats) {
      if (typeof callback !== 'function') throw new TypeError('a timer requires a function');
      const number = native.channelTimer(this.#number, delay);
      if (number !== undefined) this.#timers.set(number, { callback, delay, repeats });
    }

    #sent(isOpen) {
      if (!isOpen) this.#emit('error', errorOf('websocket: close sent'));
    }

    #emit(event, ...values) {
      for (const handler of this.#handlers.get(event) ?? []) handler(...values);
    }

    // Runs the handlers until the socket is closed.
    static run(socket) {
      socket.#emit('open');
      for (;;) {
        const [kind, ...values] = native.channelNext(socket.#number);
        if (kind === 'end') return socket.#end(...values);
        if (!socket.#isClosed) socket.#take(kind, ...values);
      }
    }

    static fail(socket, error) {
      socket.#isClosed = true;
      socket.#emit('error', errorOf(error));
    }

    #take(kind, value) {
      switch (kind) {
        case 'text': return this.#emit('message', value);
        case 'binary': return this.#emit('binaryMessage', value);
        case 'timer': return this.#expire(value);
        default: return this.#emit(kind);
      }
    }

    #expire(number) {
      const timer = this.#timers.get(number);
      this.#timers.delete(number);
      if (timer.repeats) this.#startTimer(timer.callback, timer.delay, true);
      timer.callback();
    }

    #end(error, code) {
      if (this.#isClosed) return;
      this.#isClosed = true;
      if (error !== '') this.#emit('error', errorOf(error));
      this.#emit('close', code);
    }
  }

  function errorOf(text) {
    return { error: () => text, toString: () => text };
  }

  function connect(url, params, setup) {
    if (typeof params === 'function') [params, setup] = [undefined, params];
    if (typeof setup !== 'function') throw new TypeError('ws.connect() requires a function that sets up the socket');
    const number = native.socketOpen(url, undefined, params);
    try {
      const socket = new Socket(number);
      const [first, error] = native.channelNext(number);
      setup(socket);
      if (first === 'open') {
        Socket.run(socket);
      } else {
        Socket.fail(socket, error);
      }
      const { throws, ...response } = native.channelResponse(number);
      if (first === 'open') {
        response.error = '';
      } else if (throws) {
        throw new Error(error);
      }
      return response;
    } finally {
      native.channelRelease(number);
    }
  }

  exports.connect = connect;
  exports.default = { connect };
})
