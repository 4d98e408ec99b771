//! Stacks: recursion ends with an error, at every depth and by every way, and many fibers fit.

use super::support::{fiber, realm, text_of};
use plimsoll_quickjs::{Progress, StackPool};

/// Ways to need more stack than there is; each returns the number of those that ended with an error that was caught.
const WAYS: &str = r"
globalThis.deeper = (() => {
  const nested = (n) => { let list = []; for (let i = 0; i < n; i++) list = [list]; return list; };
  const list = nested(60000), object = (() => { let o = {}; for (let i = 0; i < 60000; i++) o = { o }; return o; })();
  let proxy = {}; for (let i = 0; i < 20000; i++) proxy = new Proxy(proxy, {});
  let bound = () => 1; for (let i = 0; i < 20000; i++) bound = bound.bind(null);
  const ways = [
    () => { const f = () => f() + 1; f(); },
    () => { const f = (...all) => f(...all, 1) + 1; f(); },
    () => { const f = () => again(f); f(); },
    () => { const f = () => [1].map(f); f(); },
    () => { const f = () => [2, 1].sort(f); f(); },
    () => { const f = () => 'a'.replace(/a/, f); f(); },
    () => { const f = () => `${{ toString: f }}`; f(); },
    () => { const f = () => JSON.stringify({ toJSON: f }); f(); },
    () => { const f = () => JSON.parse('[1]', f); f(); },
    () => { const f = () => new (class { constructor() { f(); } })(); f(); },
    () => { const f = () => Reflect.apply(f, null, new Array(50)); f(); },
    () => { const f = () => (0, eval)('1') + new Function('f', 'return f()')(f); f(); },
    () => { const f = function* () { yield* f(); }; [...f()]; },
    () => { const o = { get x() { return this.x; } }; o.x; },
    () => { const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x; },
    () => { const f = (e) => { try { throw new Error('x', { cause: e }); } catch (error) { f(error); } }; f(); },
    () => { let n = 0; const f = () => { try { f(); } finally { if (n++ < 9) f(); } }; f(); },
    () => JSON.parse('['.repeat(200000)),
    () => JSON.parse('{\x22a\x22:'.repeat(200000)),
    () => JSON.stringify(list),
    () => JSON.stringify(object),
    () => String(list),
    () => list.flat(Infinity),
    () => (0, eval)('('.repeat(200000)),
    () => (0, eval)('['.repeat(200000)),
    () => (0, eval)('`${'.repeat(100000)),
    () => (0, eval)('-'.repeat(200000) + '1'),
    () => (0, eval)('function f(){'.repeat(100000)),
    () => new RegExp('('.repeat(200000)),
    () => new RegExp('(?:'.repeat(200000)),
    () => proxy.x,
    () => bound(),
  ];
  return () => ways.map((way, at) => {
    try { way(); return `${at} returned`; }
    catch (e) {
      const isLimit = /stack|too many captures|missing formal parameter/.test(e.message);
      return isLimit ? '' : `${at} ${e}`;
    }
  }).filter((text) => text).join();
})();
globalThis.at = (depth, act) => depth === 0 ? act() : at(depth - 1, act);
globalThis.atWide = (depth, act, ...all) => depth === 0 ? act() : atWide(depth - 1, act, ...all, depth);
'ready'
";

#[test]
fn every_recursion_ends_with_an_error_on_a_fiber() {
    let (pool, realm) = (StackPool::new(), realm());
    let (mut start, ready) = fiber(&pool, &realm, WAYS);
    assert_eq!(start.resume(), Progress::Ended);
    assert_eq!(ready.borrow().as_deref(), Some("ready"));
    let source = "wait(1); deeper() + wait(2) + deeper()";
    let (mut fiber, result) = fiber(&pool, &realm, source);
    while fiber.resume() == Progress::Waiting {}
    assert_eq!(result.borrow().as_deref(), Some("2"));
}

#[test]
fn every_recursion_ends_with_an_error_at_every_depth() {
    let (pool, realm) = (StackPool::new(), realm());
    assert_eq!(text_of(&realm, WAYS), "ready");
    // Little stack is left at some depths, and none at the last ones.
    let source = "(() => { let seen = ''; \
        for (let depth = 0; depth < 900; depth += 131) { \
            try { seen += wait(at(depth, deeper)) } catch (e) { seen += /stack/.test(e.message) ? '' : e } } \
        for (let depth = 0; depth < 90; depth += 31) { \
            try { seen += atWide(depth, deeper) } catch (e) { seen += /stack/.test(e) ? '' : e } } return seen })()";
    let (mut fiber, result) = fiber(&pool, &realm, source);
    while fiber.resume() == Progress::Waiting {}
    assert_eq!(result.borrow().as_deref(), Some(""));
}

#[test]
fn every_recursion_ends_with_an_error_on_threads_of_any_size() {
    for kib in [256, 1024, 16 * 1024] {
        let thread = std::thread::Builder::new().stack_size(kib * 1024);
        let handle = thread.spawn(move || {
            let realm = realm();
            assert_eq!(text_of(&realm, WAYS), "ready");
            // A stack of 16 MiB holds some of them whole.
            let wrong = text_of(&realm, "deeper()");
            assert!(wrong.is_empty() || kib > 1024, "{kib} KiB: {wrong}");
            let natives = text_of(&realm, "try { const f = () => again(f); f() } catch (e) { e.message }");
            assert_eq!(natives, "Maximum call stack size exceeded");
        });
        handle.expect("a thread").join().expect("no panic");
    }
}

#[test]
fn a_fiber_can_recurse_again_after_its_stack_was_full() {
    let (pool, realm) = (StackPool::new(), realm());
    let source = "(() => { const depth = () => { let n = 0; const f = () => { n++; f() }; try { f() } catch {} \
                  return n }; \
                  const before = depth(); wait(1); const after = depth(); \
                  return before > 300 && Math.abs(before - after) < 2 ? 'same' : `${before} ${after}` })()";
    let (mut one, first) = fiber(&pool, &realm, source);
    let (mut two, second) = fiber(&pool, &realm, source);
    assert_eq!((one.resume(), two.resume()), (Progress::Waiting, Progress::Waiting));
    assert_eq!((two.resume(), one.resume()), (Progress::Ended, Progress::Ended));
    assert_eq!(first.borrow().as_deref(), Some("same"));
    assert_eq!(second.borrow().as_deref(), Some("same"));
}
