// Groups of constructs that call `pause` in the middle. Each returns a text with its results and the stacks of its
// errors, which must be the same however many fibers wait. `pause(x)` returns x, `fail(text)` throws a TypeError; both
// wait before. `n` varies the values.
(() => {
'use strict';
const told = (error) => error instanceof Error
  ? `${error.name}|${error.message}|${error.stack}|${error.cause === undefined ? '' : told(error.cause)}`
  : String(error);
const caught = (act) => { try { return `returned ${String(act())}`; } catch (error) { return told(error); } };
const globalEval = eval;

return [
  function throwing({ pause }, n) {
    const log = [];
    const inner = (depth) => {
      try {
        pause(depth);
        if (depth === 0) throw new RangeError(`bottom ${n}`);
        return inner(depth - 1);
      } catch (error) {
        pause('catch');
        log.push(told(error));
        throw new Error(`at ${depth}`, { cause: error });
      } finally {
        log.push(`finally ${pause(depth)}`);
      }
    };
    log.push(caught(() => inner(3)));
    const swallowed = () => { try { throw pause(1); } finally { for (;;) { pause(2); break; } return pause('won'); } };
    log.push(swallowed());
    const jumps = [];
    for (let i = 0; i < 4; i++) { try { if (i === 1) continue; if (i === 3) break; jumps.push(pause(i)); } finally { jumps.push(-pause(i)); } }
    log.push(jumps.join());
    return log.join('\n');
  },

  function hostErrors({ pause, fail }, n) {
    const log = [];
    for (let i = 0; i < 3; i++) log.push(caught(() => fail(`host ${n} ${i}`)));
    log.push(caught(() => [1].map(() => fail('in map'))));
    log.push(caught(() => { try { fail('first'); } finally { pause(1); fail('second'); } }));
    log.push(caught(() => pause(undefined).missing));
    log.push(caught(() => pause(n)()));
    log.push(caught(() => unknownName + pause(1)));
    return log.join('\n');
  },

  function recursion({ pause }, n) {
    const tree = (depth) => depth === 0 ? pause(1) : tree(depth - 1) + tree(depth - 1);
    const even = (k) => k === 0 ? pause(true) : odd(k - 1);
    const odd = (k) => k === 0 ? pause(false) : even(k - 1);
    const deep = (k) => k === 0 ? new Error(pause('deep')).stack.split('\n').length : deep(k - 1);
    return [tree(4 + n), even(21), odd(21), deep(30)].join();
  },

  function overflow({ pause }, n) {
    const log = [];
    const plain = () => plain() + 1;
    const native = () => [0].map(native);
    const getter = { get more() { return this.more; } };
    const first = (error) => `${error.name}|${error.message}|${error.stack.split('\n')[0]}`;
    const limit = (act) => { pause(1); try { act(); return 'none'; } catch (error) { pause(2); return first(error); } };
    log.push(limit(plain), limit(native), limit(() => getter.more));
    log.push(limit(() => JSON.parse('['.repeat(100000))).split('|').slice(0, 2).join());
    log.push(limit(() => globalEval('('.repeat(50000))).split('|').slice(0, 2).join());
    let hits = 0;
    const turn = (k) => { try { turn(k + 1); } catch (error) { hits++; if (hits < 3) pause(k); throw error; } };
    log.push(limit(() => turn(0)), hits > 50);
    const waits = (k) => { if (k % 97 === n) pause(k); waits(k + 1); };
    log.push(limit(() => waits(0)).split('|').slice(0, 2).join());
    return log.join('\n');
  },

  function cycles({ pause }, n) {
    const made = [];
    for (let i = 0; i < 12; i++) {
      const left = { i }, right = { left, map: new Map() };
      left.right = right; right.map.set(left, right); left.self = () => left;
      if (i % 3 === n % 3) made.push(left);
      pause(i);
    }
    const weak = new WeakMap([[made[0], 'kept']]);
    let ring = { value: 0 }; const start = ring;
    for (let i = 1; i < 8; i++) { ring.next = { value: pause(i), previous: ring }; ring = ring.next; }
    ring.next = start;
    let sum = 0; for (let at = start, i = 0; i < 16; i++, at = at.next) sum += at.value + pause(0);
    return [made.map((one) => one.self().right.map.get(one).left.i).join(), weak.get(made[0]), sum].join(' ');
  },

  function generators({ pause }, n) {
    const log = [];
    function* count(to) { try { for (let i = 0; i < to; i++) log.push(`got ${yield pause(i)}`); return pause('end'); } finally { log.push(`closed ${pause(to)}`); } }
    function* both() { log.push(`inner ${yield* count(2)}`); yield* [pause(7), 8]; yield* new Set('ab'); }
    log.push([...both()].join());
    for (const value of count(9)) { if (pause(value) === 1 + n % 2) break; }
    const one = count(5);
    log.push(JSON.stringify([one.next('a'), one.next('b'), one.return(pause('early')), one.next()]));
    const two = count(5); two.next();
    log.push(caught(() => two.throw(new Error(pause('thrown in')))));
    const self = (function* () { yield caught(() => self.next()); })();
    log.push(self.next().value);
    const found = (() => { for (const value of both()) if (value === 7) return pause('seven'); })();
    log.push(found);
    return log.join('\n');
  },

  function iteration({ pause }, n) {
    const log = [];
    const source = (to) => ({
      at: 0,
      [Symbol.iterator]() { pause('open'); return this; },
      next() { return { value: pause(this.at), done: this.at++ >= to }; },
      return(value) { log.push(`return ${pause(this.at)}`); return { value }; },
    });
    const [a, b = pause('b'), ...rest] = source(5);
    const [x, , y] = source(9);
    const { p, q: { r = pause('r') } = { r: undefined }, ...others } = { p: pause(1), s: 2, t: 3 };
    log.push([a, b, rest, x, y, p, r, Object.keys(others)].join());
    log.push(Math.max(...source(4)), [...source(3), ...'éa', ...new Map([[1, pause(2)]])].join());
    outer: for (const i of source(6)) { for (const j of source(6)) { if (j === 2) continue outer; if (i === 2 + n % 2) break outer; log.push(`${i}${pause(j)}`); } }
    log.push(caught(() => { for (const i of source(3)) throw new Error(`in loop ${pause(i)}`); }));
    log.push(caught(() => { const [z] = { [Symbol.iterator]: () => ({ next: () => pause(3) }) }; return z; }));
    for (const key in { one: 1, two: 2, __proto__: { three: 3 } }) log.push(pause(key));
    log.push(Iterator.from(source(5)).map((v) => pause(v) * 2).filter((v) => pause(v) > 2).toArray().join());
    return log.join('\n');
  },

  function classes({ pause }, n) {
    class Shape {
      static made = pause(0); #size = pause(n); name = pause('shape');
      static { Shape.made += pause(10); }
      constructor() { Shape.made++; this.target = new.target.name; pause(1); }
      get size() { return pause(this.#size); } set size(value) { this.#size = pause(value); }
      #secret(k) { return pause(k) + this.#size; } open(k) { return this.#secret(k); }
      static has(one) { return #size in one; }
    }
    class Square extends Shape {
      constructor() { pause('before'); super(); this.side = super.open(2); }
      get size() { return super.size * 2; } set size(value) { super.size = value + 1; }
      *[Symbol.iterator]() { yield this.size; yield* [pause(1), 2]; }
      static make(...all) { return all.map((k) => { const one = new this(); one.size = k; return one; }); }
    }
    const all = Square.make(1, 2, pause(3));
    const log = [all.map((one) => [...one].join('-')).join(), Shape.made, all[0].target, all[0].name, all[0].side];
    log.push(Shape.has(all[0]), Shape.has({}), caught(() => Shape.prototype.open.call({}, 1)));
    log.push(caught(() => Square()), caught(() => new (class extends Shape { constructor() { pause(1); } })()));
    return log.join('\n');
  },

  function conversions({ pause }, n) {
    const value = { valueOf() { return pause(n + 2); }, toString() { return pause('text'); } };
    const exact = { [Symbol.toPrimitive](hint) { return pause(hint === 'number' ? 4 : hint); } };
    const bad = { valueOf() { throw new Error(pause('no number')); }, toString: null };
    const log = [value * value, `${value}`, value + 1, value > 1, value == n + 2, +exact, `${exact}`, exact + '', [value, exact].join()];
    log.push(caught(() => bad * 2), caught(() => `${bad}`), ({ [value]: 1, [exact]: 2 }).text, 'abc'.at(exact - 3));
    const seen = {}; Object.defineProperty(seen, 'lazy', { get() { return pause('lazy'); }, set(v) { this.kept = pause(v); } });
    seen.lazy = 5; seen.lazy ??= pause(6);
    log.push(seen.kept, seen.lazy, new Date({ valueOf: () => pause(86400000) }).toISOString(), parseInt(value), Number(exact));
    return log.join();
  },

  function callbacks({ pause }, n) {
    const list = [5, 3, 9, 1, 7, 2].map((k) => pause(k) + n);
    const log = [list.join(), [...list].sort((a, b) => pause(a) - pause(b)).join(), list.toSorted((a, b) => pause(b) - a).join()];
    log.push(list.reduce((sum, k) => sum + pause(k), 0), list.flatMap((k) => [pause(k), [k]]).length, list.findLast((k) => pause(k) > 8));
    log.push('a1b22c'.replace(/\d+/g, (digits, at) => pause(`<${digits}@${at}>`)), 'x-y'.split({ [Symbol.split]: (s) => pause([s, 2]) }).join());
    const map = new Map([[1, 'a'], [2, 'b']]); map.forEach((v, k) => { if (k < 6) map.set(k + 2, pause(v)); map.delete(k - 1); });
    const set = new Set([1, 2, 3]); set.forEach((k) => { if (pause(k) < 3) set.delete(k + 1); });
    log.push([...map].join(';'), [...set].join(), Array.from({ length: 3 }, (_, k) => pause(k * k)).join());
    log.push(Float64Array.of(3, 1, 2).sort((a, b) => pause(a) - b).join(), Uint8Array.from([1, 2], (k) => pause(k * 2)).join());
    const bound = function (...all) { return `${this.tag}${pause(all.length)}`; }.bind({ tag: 't' }, 1, 2);
    log.push(bound(3), bound.call(null, 4, 5), Reflect.apply(bound, null, [6]), pause.apply(null, ['applied']), pause.call(1, 'called'));
    log.push(caught(() => list.sort(() => { throw new Error(pause('comparing')); })), caught(() => [1, 2].forEach((k) => pause(k).x.y)));
    const groups = Object.groupBy(list, (k) => pause(k % 2 ? 'odd' : 'even'));
    log.push(JSON.stringify(groups), list.length);
    return log.join('\n');
  },

  function json({ pause }, n) {
    const log = [JSON.stringify(JSON.parse('{"a":[1,{"b":2}],"c":"d"}', function (key, value) { return pause(typeof value === 'number' ? value + n : value); }))];
    log.push(JSON.stringify({ a: 1, b: [2, { c: n }], d: undefined }, (key, value) => pause(value), 1));
    log.push(JSON.stringify({ when: { toJSON(key) { return pause(`as ${key}`); } }, list: [{ toJSON: () => pause({ x: 1 }) }] }));
    log.push(caught(() => JSON.stringify({ get bad() { throw new Error(pause('getter')); } })));
    log.push(caught(() => JSON.parse('{"a": [1, 2,, 3]}', (k, v) => pause(v))));
    const ring = {}; ring.ring = { toJSON: () => pause(ring) };
    log.push(caught(() => JSON.stringify(ring)).split('\n')[0]);
    return log.join('\n');
  },

  function proxies({ pause }, n) {
    const log = [];
    const trap = (name, act) => (...all) => { log.push(pause(name)); return act(...all); };
    const names = ['get', 'set', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'deleteProperty', 'apply', 'construct', 'defineProperty', 'getPrototypeOf'];
    const handler = Object.fromEntries(names.map((name) => [name, trap(name, Reflect[name])]));
    const object = new Proxy({ a: 1, b: n }, handler);
    object.c = 3; delete object.b;
    log.push(object.a + object.c, 'a' in object, Object.keys(object).join(), JSON.stringify({ ...object }), object instanceof Array);
    const call = new Proxy(function (k) { return new.target ? { made: pause(k) } : pause(k + 1); }, handler);
    log.push(call(1), new call(2).made, Reflect.construct(call, [3]).made, call.call(null, 4));
    const strict = new Proxy(Object.freeze({ fixed: 1 }), { get: () => pause(2), set: () => pause(false) });
    log.push(caught(() => strict.fixed), caught(() => { strict.other = 1; }));
    const { proxy, revoke } = Proxy.revocable({}, { get() { revoke(); return pause('gone'); } });
    log.push(proxy.x, caught(() => proxy.x));
    return log.join('\n');
  },

  function dynamic({ pause }, n) {
    const local = pause(n);
    const log = [eval('local + pause(1)'), globalEval('1 + 2'), new Function('pause', 'k', 'return pause(k) * 2')(pause, 4)];
    log.push(caught(() => eval('throw new Error(pause("in eval"))')), caught(() => new Function('pause', 'pause(1); null.x')(pause)));
    const loose = new Function('pause', 'a', 'arguments[1] = pause(9); return [a, arguments.length, typeof arguments.callee].join()');
    log.push(loose(pause, 1, 2), loose.call(undefined, pause));
    log.push((function () { const copy = [...arguments]; pause(1); return copy.length + arguments[0]; })(5, 6));
    log.push(caught(function () { pause(1); return arguments.callee; }));
    const tag = (strings, ...values) => `${strings.raw.join('_')}${values.map((v) => pause(v)).join()}`;
    log.push(tag`a\n${pause(1)}b${n}`, tag`${pause('x')}`, caught(() => eval('let ; let')), caught(() => globalEval('}')));
    return log.join('\n');
  },

  function traces({ pause }, n) {
    class Broken extends TypeError { constructor(text) { super(pause(text)); this.name = 'Broken'; this.code = n; } }
    const log = [caught(() => { throw new Broken('mine'); })];
    const captured = {}; (function here() { pause(1); Error.captureStackTrace(captured); })();
    log.push(captured.stack);
    function hidden() { pause(2); Error.captureStackTrace(captured, hidden); } hidden();
    log.push(captured.stack);
    log.push([1, 2].map(function each(k) { return new Error(pause(k)).stack; }).join('\n'));
    log.push(new AggregateError([new Error(pause('one'))], 'many').errors[0].stack);
    const made = []; for (let i = 0; i < 3; i++) { pause(i); made.push(new Error('loop').stack); }
    log.push(made.every((stack) => stack === made[0]), made[0], new Error('x', { get cause() { return pause('late'); } }).cause);
    return log.join('\n');
  },

  function texts({ pause }, n) {
    let rope = ''; for (let i = 0; i < 60; i++) rope = i % 2 ? rope + pause(`r${i}`) : `${i}l` + rope;
    let long = 'start'; for (let i = 0; i < 400; i++) { long += `piece ${i % 7} `.repeat(8); if (i % 100 === 0) pause(i); }
    const log = [rope.length, rope.charCodeAt(pause(50)), long.length, long.indexOf('piece 6'), long.slice(pause(4000), 4010)];
    const sticky = /(?<word>[a-z]+)(\d)?/gy; let match; const words = [];
    while ((match = sticky.exec('ab1cd2ef')) !== null) words.push(pause(match.groups.word) + match.index + sticky.lastIndex);
    log.push(words.join(), [...'k1=v1;k2=v2'.matchAll(/(\w+)=(\w+)/g)].map((m) => pause(m[1]) + m[2]).join());
    log.push('aXbX'.replaceAll('X', () => pause('-')), /^(a+)+$/.test('aaaaaaaaaaaa' + pause('!')), 'ǅ'.toLowerCase() + 'ß'.toUpperCase() + pause('é').normalize('NFD').length);
    class Custom extends RegExp { exec(text) { const found = super.exec(text); pause(1); return found; } }
    log.push('one two'.replace(new Custom('o', 'g'), '0'), 'a,b'.split(new Custom(',')).join('|'), caught(() => new RegExp(pause('(')).test('')));
    log.push('text'.padStart(n + 8, pause('.')), String.raw`\u${pause(1)}`, [...'a😀b'].length, 'b'.localeCompare(pause('a')));
    return log.join('\n');
  },

  function numbers({ pause }, n) {
    let big = 1n; for (let i = 1n; i <= 30n; i++) big *= i + BigInt(pause(n));
    const power = (base, exponent) => exponent === 0n ? 1n : (pause(exponent) % 2n === 0n ? power(base * base, exponent / 2n) : base * power(base, exponent - 1n));
    const log = [big, power(3n, 200n) % 1000007n, BigInt.asUintN(64, -pause(1n)), BigInt('0x' + 'f'.repeat(40)) >> 3n, -7n / 2n];
    log.push(caught(() => pause(1n) + 1), caught(() => pause(5n) / 0n), caught(() => BigInt(pause(1.5))));
    log.push([0.1 + pause(0.2), 1e21, -0, 2 ** pause(53), (123.456).toFixed(pause(1)), (255).toString(pause(16)), Number(pause('0b11'))].map(String).join());
    log.push(new BigInt64Array([pause(1n), 2n]).map((k) => pause(k * 3n)).join(), Math.hypot({ valueOf: () => pause(3) }, 4), big.toString(36));
    return log.map(String).join('\n');
  },

  function scopes({ pause }, n) {
    const held = []; for (let i = 0; i < 4; i++) { held.push(() => pause(i++)); if (i === 2) i = pause(i); }
    const log = [held.map((one) => one() + one()).join()];
    let shared = 0; const up = (by) => { const before = shared; pause(by); shared = before + by; return shared; };
    log.push(up(n), up(2), caught(() => { pause(1); early; let early = 1; }), caught(() => { const fixed = 1; fixed = pause(2); }));
    const defaults = (a = pause(1), b = a + pause(2), { c = b } = {}) => `${a}${b}${c}`;
    log.push(defaults(), defaults(5), defaults(1, undefined, { c: pause(3) }));
    switch (pause(n % 3)) { case pause(0): log.push('zero'); case 1: log.push('one'); break; default: log.push(pause('other')); }
    const tagged = new Map(); for (const key of [NaN, 0, -0, 'a', Symbol.for('s')]) tagged.set(key, pause(tagged.size));
    log.push([...tagged.values()].join(), pause(null)?.x?.[pause('never')], pause(0) || pause('or'), pause(0) ?? 'no', (pause(1), pause(2)));
    const symbol = { [Symbol.hasInstance]: (one) => pause(one === 1), get [Symbol.toStringTag]() { return pause('Tag'); } };
    log.push(1 instanceof symbol, String(symbol), Array.isArray([].concat({ length: 1, 0: pause('c'), [Symbol.isConcatSpreadable]: true })));
    return log.map(String).join('\n');
  },

  // These return promises. Their jobs wait, too, while other jobs of the same call are in the queue.
  async function awaiting({ pause, fail }, n) {
    const log = [];
    const worker = async (name, rounds) => {
      for (let i = 0; i < rounds; i++) {
        log.push(`${name}${await pause(i)}`);
        if (i === n) { try { await fail(name); } catch (error) { log.push(told(error)); } }
        pause(name);
        await null;
      }
      return name;
    };
    log.push((await Promise.all([worker('a', 3), worker('b', 2), worker('c', 4)])).join());
    log.push(JSON.stringify(await Promise.allSettled([worker('d', 1), Promise.reject(n), (async () => fail('e'))().catch(told)])));
    log.push(await Promise.race([worker('f', 2), worker('g', 1)]), await Promise.any([Promise.reject(1), worker('h', 1)]));
    const rejected = async () => { try { await Promise.reject(new Error(`late ${pause(n)}`)); } finally { log.push(await pause('finally')); } };
    log.push(await rejected().catch(told));
    return log.join('\n');
  },

  async function microtasks({ pause }, n) {
    const log = [];
    const step = (name) => (value) => { log.push(name); pause(name); log.push(`${name}.`); return value + 1; };
    const chains = ['a', 'b', 'c'].map((name) => Promise.resolve(0).then(step(name)).then(step(name.toUpperCase())));
    queueMicrotask(() => { log.push('micro'); pause(1); queueMicrotask(() => log.push('inner')); });
    const thenable = { then(done) { log.push('then'); pause(n); done(pause('thenable')); } };
    async function* numbers() { for (let i = 0; i < 3; i++) { pause(i); yield i * (await pause(n)); } }
    const collected = (async () => { const all = []; for await (const one of numbers()) all.push(pause(one)); return all.join(); })();
    log.push((await Promise.all([...chains, thenable, collected])).join());
    let count = 0;
    await new Promise((done) => { const again = () => { if (++count === 5) done(pause(count)); else Promise.resolve().then(again); pause(count); }; again(); });
    for await (const one of [Promise.resolve(pause(1)), 2, thenable]) log.push(one);
    return `${log.join()} ${count}`;
  },
];
})()
