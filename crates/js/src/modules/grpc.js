(function (exports, require, native) {
  'use strict';
  const HEALTH = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

  // JSON has no such numbers; messages have them as texts.
  function text(message) {
    if (message === undefined || message === null) throw new TypeError('a call requires a message');
    return JSON.stringify(message, (_, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
      if (typeof value === 'bigint') return String(value);
      return value;
    });
  }

  let partsOf;

  class Client {
    #schemas = [];
    #connection = null;

    static {
      partsOf = (client) => [client.#connection, client.#schemas];
    }

    load(importPaths, ...files) {
      return this.#add(native.grpcLoad(importPaths, files.flat().map(String)));
    }

    loadProtoset(path) {
      return this.#add(native.grpcLoadSet(path));
    }

    #add({ number, methods }) {
      if (!this.#schemas.includes(number)) this.#schemas.push(number);
      return methods;
    }

    connect(address, params) {
      if (address === undefined) throw new TypeError('connect() requires an address, such as `127.0.0.1:50051`');
      const [connection, number] = native.grpcConnect(address, params);
      this.#connection = connection;
      if (number !== undefined) this.#add({ number });
      return true;
    }

    invoke(method, message, params) {
      return native.grpcInvoke(this.#connection, this.#schemas, method, text(message), params);
    }

    asyncInvoke(method, message, params) {
      try {
        return native.grpcInvokeAsync(this.#connection, this.#schemas, method, text(message), params);
      } catch (error) {
        return Promise.reject(error);
      }
    }

    healthCheck(service) {
      const schemas = [native.grpcHealth()];
      const message = text({ service: service === undefined || service === null ? '' : String(service) });
      const { error, message: found } =
        native.grpcInvoke(this.#connection, schemas, '/grpc.health.v1.Health/Check', message);
      if (error !== null) throw new Error(`health check: code ${error.code}: ${error.message}`);
      return { status: typeof found.status === 'number' ? found.status : HEALTH.indexOf(found.status) };
    }

    close() {
      native.grpcClose(this.#connection);
      this.#connection = null;
    }
  }

  const EVENTS = ['data', 'error', 'end', 'status'];

  class Stream {
    #number;
    #method;
    #listeners = new Map(EVENTS.map((event) => [event, []]));

    constructor(client, method, params) {
      if (!(client instanceof Client)) throw new TypeError('a Stream requires a Client');
      this.#method = String(method);
      const take = (kind, value) => (kind === 'data' ? this.#emit('data', value) : this.#end(value));
      this.#number = native.grpcStream(...partsOf(client), this.#method, params, take);
    }

    on(event, listener) {
      if (typeof listener !== 'function') throw new TypeError(`the handler of \`${event}\` must be a function`);
      const all = this.#listeners.get(event);
      if (all === undefined) console.warn(`unknown event \`${event}\` of a gRPC stream`);
      else all.push(listener);
    }

    write(message) {
      if (message === undefined || message === null) console.warn('a gRPC stream cannot send an empty message');
      else native.grpcWrite(this.#number, text(message));
    }

    end() {
      native.grpcEnd(this.#number);
    }

    #end(error) {
      if (error !== null) {
        if (this.#listeners.get('error').length === 0) {
          console.warn(`gRPC stream ${this.#method}: code ${error.code}: ${error.message}`);
        }
        this.#emit('error', error);
      }
      this.#emit('end', {});
    }

    #emit(event, value) {
      for (const listener of this.#listeners.get(event)) listener(value, { ts: Math.floor(Date.now() / 1000) });
    }
  }

  const STATUSES = [
    'OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists',
    'PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented',
    'Internal', 'Unavailable', 'DataLoss', 'Unauthenticated',
  ];
  exports.Client = Client;
  exports.Stream = Stream;
  STATUSES.forEach((name, code) => { exports[`Status${name}`] = code; });
  exports.HealthCheckUnknown = 0;
  exports.HealthCheckServing = 1;
  exports.HealthCheckNotServing = 2;
  // The name has this form in k6.
  exports.HealthCheckServiceUnkown = 3;
  exports.default = { ...exports };
})
