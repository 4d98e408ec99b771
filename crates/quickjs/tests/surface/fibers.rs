//! Fibers: several calls in progress in one runtime.

use plimsoll_quickjs::{Call, Fiber, Native, Progress, Realm, Runtime, StackPool, Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;

fn wait(call: &Call<'_>) -> Result<Value, Thrown> {
    call.wait()?;
    Ok(call.argument(0))
}

static NATIVES: &[Native] = &[wait];

fn realm() -> Realm {
    let runtime = Runtime::new(NATIVES).expect("a runtime");
    let realm = Realm::new(&runtime).expect("a realm");
    realm.global().set_str("wait", realm.function("wait", 1, wait)).expect("a global");
    realm
}

/// Starts a fiber that evaluates a function, and keeps its result as text.
fn fiber(pool: &StackPool, realm: &Realm, source: &str) -> (Fiber, Rc<RefCell<Option<String>>>) {
    let result = Rc::new(RefCell::new(None));
    let (own, of, source) = (Rc::clone(&result), realm.clone(), source.to_owned());
    let body = move || {
        let text = match of.eval(&source, "test.js") {
            Ok(value) => value.describe(),
            Err(thrown) => format!("{thrown:?}"),
        };
        own.replace(Some(text));
    };
    (Fiber::new(pool, realm.runtime(), body).expect("a stack"), result)
}

#[test]
fn finds_exactly_one_word_for_frames() {
    assert!(plimsoll_quickjs::is_sound());
}

#[test]
fn keeps_backtraces_of_waiting_calls_apart() {
    let (pool, realm) = (StackPool::new(), realm());
    let source = "(function outer() { let all = ''; for (let i = 0; i < 50; i++) { wait(i); \
                  try { null.x } catch (e) { all = e.stack } } return all })()";
    let mut fibers: Vec<_> = (0..20).map(|_| fiber(&pool, &realm, source)).collect();
    for round in 0..50 {
        for (fiber, _) in &mut fibers {
            assert_eq!(fiber.resume(), Progress::Waiting, "round {round}");
        }
    }
    for (fiber, result) in &mut fibers {
        assert_eq!(fiber.resume(), Progress::Ended);
        let stack = result.borrow().clone().expect("a result");
        assert_eq!(stack.lines().count(), 2, "{stack}");
        assert!(stack.contains("outer (test.js:1"), "{stack}");
    }
}

#[test]
fn catches_endless_recursion_on_a_fiber() {
    let (pool, realm) = (StackPool::new(), realm());
    let source = "(() => { wait(1); const f = () => f() + 1; try { f() } catch (e) { return e.message } })()";
    let (mut fiber, result) = fiber(&pool, &realm, source);
    assert_eq!(fiber.resume(), Progress::Waiting);
    assert_eq!(fiber.resume(), Progress::Ended);
    assert_eq!(result.borrow().as_deref(), Some("Maximum call stack size exceeded"));
}

#[test]
fn ends_a_cancelled_fiber_without_its_finally() {
    let (pool, realm) = (StackPool::new(), realm());
    let source =
        "globalThis.log = ''; try { wait(1) } catch (e) { log += 'caught' } finally { log += 'finally' }";
    let (mut one, result) = fiber(&pool, &realm, source);
    assert_eq!(one.resume(), Progress::Waiting);
    drop(one);
    assert_eq!(result.borrow().as_deref(), Some("Cancelled"));
    let (mut other, log) = fiber(&pool, &realm, "log");
    assert_eq!(other.resume(), Progress::Ended);
    assert_eq!(log.borrow().as_deref(), Some(""));
}

#[test]
fn interrupts_an_endless_loop_while_others_go_on() {
    let (pool, realm) = (StackPool::new(), realm());
    let (mut good, answer) = fiber(&pool, &realm, "wait(1) + 1");
    assert_eq!(good.resume(), Progress::Waiting);
    let (mut endless, result) = fiber(&pool, &realm, "for (;;) { try { for (;;); } catch (e) {} }");
    realm.runtime().set_budget(100);
    assert_eq!(endless.resume(), Progress::Ended);
    assert_eq!(result.borrow().as_deref(), Some("Interrupted"));
    realm.runtime().set_budget(u64::MAX);
    assert_eq!(good.resume(), Progress::Ended);
    assert_eq!(answer.borrow().as_deref(), Some("2"));
}

#[test]
fn refuses_to_wait_outside_of_a_fiber() {
    let realm = realm();
    let thrown = realm.eval("wait(1)", "test.js").expect_err("an error");
    assert!(format!("{thrown:?}").contains("cannot wait here"), "{thrown:?}");
}
