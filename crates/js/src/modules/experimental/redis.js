(function (exports, require, native) {
  'use strict';
  const UNITS = { ns: 1e-6, us: 1e-3, 'µs': 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5 };
  // Processors of the load generator do not matter: k6 has 10 connections for each of them.
  const CONNECTIONS = 10;

  // As an error of k6, its text is its message alone.
  class RedisError extends Error {
    toString() {
      return this.message;
    }
  }

  const invalid = (why) => new Error(`invalid options; reason: ${why}`);

  // Times in ms: 0 means the default, below 0 no limit.
  function time(value, usual) {
    if (value === undefined || value === 0) return usual;
    return value < 0 ? undefined : value;
  }

  function parsed(name, text) {
    if (/^-?\d+$/.test(text)) {
      const seconds = Number(text);
      return seconds > 0 ? seconds * 1000 : -1;
    }
    let ms = 0;
    const parts = text.match(/[\d.]+(?:ns|us|µs|ms|s|m|h)/g) ?? [];
    if (parts.join('') !== text || text === '') throw invalid(`redis: invalid duration of \`${name}\`: ${text}`);
    for (const part of parts) ms += parseFloat(part) * UNITS[part.replace(/[\d.]+/, '')];
    return ms;
  }

  function count(name, value) {
    const number = Number(value);
    if (!Number.isInteger(number)) throw invalid(`\`${name}\` must be a whole number: ${value}`);
    return number;
  }

  // What the settings are called in URLs, with how their values are read.
  const QUERY = {
    db: ['database', count], client_name: ['clientName', (_, text) => text], max_retries: ['maxRetries', count],
    min_retry_backoff: ['minRetryBackoff', parsed], max_retry_backoff: ['maxRetryBackoff', parsed],
    dial_timeout: ['dialTimeout', parsed], read_timeout: ['readTimeout', parsed],
    write_timeout: ['writeTimeout', parsed], pool_size: ['poolSize', count], pool_timeout: ['poolTimeout', parsed],
    idle_timeout: ['idleTimeout', parsed], conn_max_idle_time: ['idleTimeout', parsed],
    max_conn_age: ['maxConnAge', parsed], conn_max_lifetime: ['maxConnAge', parsed],
  };

  function ofUrl(text) {
    const scheme = text.slice(0, Math.max(0, text.indexOf(':')));
    if (scheme === 'unix') throw invalid('Unix domain sockets are not supported');
    if (scheme !== 'redis' && scheme !== 'rediss') throw invalid(`redis: invalid URL scheme: ${scheme}`);
    const [, login, address, path, query] =
      /^[a-z]+:\/\/(?:(.*)@)?([^/?]*)\/?([^?]*)(?:\?(.*))?$/.exec(text) ?? [];
    if (address === undefined) throw invalid(`redis: invalid URL: ${text}`);
    const given = { tls: scheme === 'rediss' ? {} : undefined, address: address || 'localhost' };
    if (!/:\d+$/.test(given.address)) given.address += ':6379';
    if (login !== undefined) {
      const colon = login.indexOf(':');
      given.username = decodeURIComponent(colon < 0 ? login : login.slice(0, colon));
      given.password = colon < 0 ? undefined : decodeURIComponent(login.slice(colon + 1));
    }
    if (path !== '') {
      if (!/^\d+$/.test(path)) throw invalid(`redis: invalid database number: ${JSON.stringify(path)}`);
      given.database = Number(path);
    }
    for (const pair of (query ?? '').split('&').filter((pair) => pair !== '')) {
      const [name, value = ''] = pair.split('=').map(decodeURIComponent);
      if (!Object.hasOwn(QUERY, name)) throw invalid(`redis: unexpected option: ${name}`);
      const [key, read] = QUERY[name];
      given[key] = read(name, value);
    }
    return given;
  }

  const NODE = [
    'socket', 'username', 'password', 'clientName', 'database', 'maxRetries', 'minRetryBackoff', 'maxRetryBackoff',
  ];
  const SOCKET = [
    'host', 'port', 'tls', 'dialTimeout', 'readTimeout', 'writeTimeout', 'poolSize', 'minIdleConns', 'maxConnAge',
    'poolTimeout', 'idleTimeout', 'idleCheckFrequency',
  ];

  function known(object, names) {
    for (const name of Object.keys(object)) if (!names.includes(name)) throw invalid(`unknown field "${name}"`);
  }

  function ofObject(options) {
    if (options.cluster !== undefined) throw invalid('clusters of Redis are not supported: name one server');
    if (options.masterName !== undefined) throw invalid('sentinels of Redis are not supported: name one server');
    known(options, NODE);
    const { socket, ...rest } = options;
    if (socket === undefined || socket === null) throw invalid('empty socket options');
    known(socket, SOCKET);
    for (const name of ['minIdleConns', 'idleCheckFrequency']) {
      if (socket[name]) throw invalid(`\`${name}\` is not supported: connections are opened when they are needed`);
    }
    if (socket.tls) known(socket.tls, ['ca', 'cert', 'key']);
    const host = String(socket.host ?? '');
    return { ...rest, ...socket, address: `${host.includes(':') ? `[${host}]` : host}:${socket.port ?? 0}` };
  }

  function settings(options) {
    let given;
    if (typeof options === 'string') given = ofUrl(options);
    else if (typeof options === 'object' && options !== null) given = ofObject(options);
    else throw new Error(`invalid options type: ${typeof options}; expected string or object`);
    const numbers = ['database', 'maxRetries', 'minRetryBackoff', 'maxRetryBackoff', 'dialTimeout', 'readTimeout',
      'writeTimeout', 'poolSize', 'maxConnAge', 'poolTimeout', 'idleTimeout'];
    for (const name of numbers) {
      if (given[name] !== undefined && typeof given[name] !== 'number') throw invalid(`\`${name}\` must be a number`);
    }
    const { tls } = given;
    const [read, write] = [time(given.readTimeout, 3000), time(given.writeTimeout, 3000)];
    // A command is small, so its write and its reply have one limit.
    const reply = read === undefined || write === undefined ? undefined : Math.max(read, write);
    const retries = given.maxRetries ?? 0;
    return {
      address: given.address,
      tls: Boolean(tls),
      authorities: tls?.ca,
      certificate: tls?.cert && tls?.key ? tls.cert : undefined,
      key: tls?.key,
      user: given.username || undefined,
      password: given.password || undefined,
      name: given.clientName || undefined,
      database: given.database ?? 0,
      connections: given.poolSize > 0 ? given.poolSize : CONNECTIONS,
      connectTimeout: time(given.dialTimeout, 5000),
      replyTimeout: reply,
      poolTimeout: time(given.poolTimeout, read === undefined ? 31_000 : read + 1000),
      idleTimeout: time(given.idleTimeout, 1_800_000),
      lifetime: time(given.maxConnAge, undefined),
      retries: retries === 0 ? 3 : Math.max(0, retries),
      minBackoff: time(given.minRetryBackoff, 8) ?? 0,
      maxBackoff: time(given.maxRetryBackoff, 512) ?? 0,
    };
  }

  // The value of an argument as the server gets it; `at` is its index.
  function word(value, at) {
    switch (typeof value) {
      case 'string': return value;
      case 'boolean': return value ? '1' : '0';
      case 'number': return number(value);
      default:
        throw new RedisError(
          `unsupported type provided for argument at index ${at}, supported types are string, number, and boolean`);
    }
  }

  function number(value) {
    const text = String(value);
    if (!text.includes('e')) return text;
    if (Number.isInteger(value)) return BigInt(value).toString();
    const [digits, exponent] = text.split('e-');
    const sign = digits.startsWith('-') ? '-' : '';
    return `${sign}0.${'0'.repeat(exponent - 1)}${digits.replace(/[-.]/g, '')}`;
  }

  // Keys and fields are texts, and numbers whole.
  const key = (value) => (value === undefined ? '' : String(value));
  const whole = (value) => number(Math.trunc(Number(value)) || 0);
  const isOne = (reply) => reply === 1;

  class Client {
    #client;

    constructor(...options) {
      if (options.length !== 1) throw new Error('must specify one argument');
      this.#client = native.redisClient(settings(options[0]));
    }

    // `read` makes the result of a reply.
    async #send(words, read) {
      let reply;
      try {
        reply = await native.redisSend(this.#client, words());
      } catch (why) {
        throw why instanceof Error ? why : new RedisError(why);
      }
      return read === undefined ? reply : read(reply);
    }

    set(name, value, expiration) {
      const seconds = Math.trunc(Number(expiration)) || 0;
      const end = seconds > 0 ? ['EX', number(seconds)] : [];
      return this.#send(() => ['SET', key(name), word(value, 1), ...end]);
    }

    getSet(name, value) {
      return this.#send(() => ['GETSET', key(name), word(value, 1)]);
    }

    sendCommand(command, ...rest) {
      return this.#send(() => [key(command), ...rest.map((value, at) => word(value, at + 1))]);
    }

    static {
      // Commands by the arguments that they take: a key or a field, a whole number, or a value; of the last one, any
      // number if it is in an array.
      const ALL = {
        get: [[key]], del: [[[key]]], getDel: [[key]], exists: [[[key]]],
        incr: [[key]], incrBy: [[key, whole]], decr: [[key]], decrBy: [[key, whole]],
        randomKey: [[]], mget: [[[key]]],
        expire: [[key, whole], isOne], ttl: [[key]], persist: [[key], isOne],
        lpush: [[key, [word]]], rpush: [[key, [word]]], lpop: [[key]], rpop: [[key]],
        lrange: [[key, whole, whole]], lindex: [[key, whole]], lset: [[key, whole, key]],
        lrem: [[key, whole, key]], llen: [[key]],
        hset: [[key, key, word]], hsetnx: [[key, key, key], isOne], hget: [[key, key]], hdel: [[key, [key]]],
        hgetall: [[key], fields], hkeys: [[key]], hvals: [[key]], hlen: [[key]], hincrby: [[key, key, whole]],
        sadd: [[key, [word]]], srem: [[key, [word]]], sismember: [[key, word], isOne], smembers: [[key]],
        srandmember: [[key]], spop: [[key]],
      };
      for (const [name, [takes, read]] of Object.entries(ALL)) {
        const words = (given) => takes.flatMap((take, at) =>
          Array.isArray(take)
            ? given.slice(at).map((value, more) => take[0](value, at + more))
            : [take(given[at], at)]);
        const method = function (...given) {
          return this.#send(() => [name.toUpperCase(), ...words(given)], read);
        };
        Object.defineProperty(Client.prototype, name, { value: method, writable: true, configurable: true });
      }
    }
  }

  function fields(reply) {
    const all = {};
    for (let at = 0; at + 1 < reply.length; at += 2) all[reply[at]] = reply[at + 1];
    return all;
  }

  exports.Client = Client;
  exports.default = { Client };
})
