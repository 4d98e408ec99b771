//! What the surface promises for every use of it: refusals instead of corrupt memory.

use super::support::{fiber, realm, realm_of, set_task, text_of};
use plimsoll_quickjs::{Class, Fiber, Progress, Realm, StackPool, Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;

#[test]
#[should_panic(expected = "a value was used in another runtime")]
fn a_value_of_another_runtime_is_refused_as_an_argument() {
    let (one, two) = (realm(), realm());
    let function = one.eval("(x) => x", "test.js").expect("a function");
    let _ = function.call(&one.undefined(), &[&two.object()]);
}

#[test]
#[should_panic(expected = "a value was used in another runtime")]
fn a_value_of_another_runtime_is_refused_as_a_property() {
    let (one, two) = (realm(), realm());
    let _ = one.global().set_str("x", two.object());
}

#[test]
#[should_panic(expected = "an atom was used in another runtime")]
fn an_atom_of_another_runtime_is_refused() {
    let (one, two) = (realm(), realm());
    let _ = one.global().get(two.atom("only there"));
}

#[test]
fn a_value_of_another_realm_of_the_runtime_is_accepted() {
    let one = realm();
    let two = realm_of(one.runtime());
    one.global().set_str("list", two.eval("[1, 2]", "test.js").expect("a list")).expect("a property");
    assert_eq!(text_of(&one, "list.length + ' ' + (list instanceof Array)"), "2 false");
}

#[test]
fn a_native_of_a_realm_that_was_dropped_can_still_be_called() {
    let (pool, one) = (StackPool::new(), realm());
    let two = realm_of(one.runtime());
    let function = two.eval("(k) => wait(k) + again((x) => x, 1)", "two.js").expect("a function");
    one.global().set_str("theirs", function).expect("a property");
    two.global().set_str("name", two.text("two")).expect("a property");
    one.global()
        .set_str("nameOfTheirs", two.global().get_str("realmName").expect("a native"))
        .expect("a property");
    drop(two);
    // It takes the memory of the realm that was dropped.
    let three = realm_of(one.runtime());
    three.global().set_str("name", three.text("three")).expect("a property");
    let (mut fiber, result) = fiber(&pool, &one, "theirs(1) + nameOfTheirs()");
    assert_eq!(fiber.resume(), Progress::Waiting);
    one.runtime().collect();
    assert_eq!(fiber.resume(), Progress::Ended);
    assert_eq!(result.borrow().as_deref(), Some("2two"));
}

#[test]
fn an_object_holds_only_what_its_class_put_there() {
    let (one, two) = (realm(), realm());
    let texts = Class::<String>::new(one.runtime(), "Text").expect("a class");
    let numbers = Class::<[usize; 3]>::new(two.runtime(), "Number").expect("a class");
    let text = texts.object(&one, "text".to_owned());
    assert_eq!(texts.get(&text).map(String::as_str), Some("text"));
    assert_eq!(numbers.get(&text), None);
    assert_eq!(texts.get(&one.object()), None);
    assert_eq!(texts.get(&one.undefined()), None);
}

#[test]
fn the_content_of_an_object_may_hold_values_and_is_dropped_once() {
    struct Content(Rc<RefCell<u32>>, #[allow(dead_code, reason = "only dropped")] Option<Value>);
    impl Drop for Content {
        fn drop(&mut self) {
            *self.0.borrow_mut() += 1;
        }
    }
    let (realm, count) = (realm(), Rc::new(RefCell::new(0)));
    let class = Class::<Content>::new(realm.runtime(), "Content").expect("a class");
    let inner = class.object(&realm, Content(Rc::clone(&count), None));
    let ring = text_of(&realm, "globalThis.ring = {}; ring.ring = ring; 'made'");
    assert_eq!(ring, "made");
    let outer = class.object(&realm, Content(Rc::clone(&count), Some(inner)));
    realm.global().get_str("ring").expect("the ring").set_str("held", outer).expect("a property");
    realm.runtime().collect();
    assert_eq!(*count.borrow(), 0);
    text_of(&realm, "ring = null");
    realm.runtime().collect();
    assert_eq!(*count.borrow(), 2);
}

#[test]
fn a_fiber_cannot_be_resumed_from_javascript_of_its_runtime() {
    let (pool, realm) = (StackPool::new(), realm());
    let (mut waiting, result) =
        fiber(&pool, &realm, "(function f() { wait(1); return new Error('x').stack })()");
    assert_eq!(waiting.resume(), Progress::Waiting);
    let waiting = Rc::new(RefCell::new(waiting));
    for is_on_fiber in [false, true] {
        let own = Rc::clone(&waiting);
        set_task(&realm, move || {
            own.borrow_mut().resume();
        });
        let source = "(() => { try { runTask() } catch (e) { return e.message } })()";
        let answer = if is_on_fiber {
            let (mut other, answer) = fiber(&pool, &realm, source);
            assert_eq!(other.resume(), Progress::Ended);
            answer.take().expect("a result")
        } else {
            text_of(&realm, source)
        };
        assert_eq!(answer, "a native function panicked");
    }
    assert_eq!(waiting.borrow_mut().resume(), Progress::Ended);
    assert_eq!(result.borrow().as_ref().map(|stack| stack.lines().count()), Some(2));
}

#[test]
fn a_fiber_that_is_dropped_inside_of_javascript_harms_nothing() {
    let (pool, realm) = (StackPool::new(), realm());
    let (mut waiting, result) = fiber(&pool, &realm, "wait(1)");
    assert_eq!(waiting.resume(), Progress::Waiting);
    set_task(&realm, move || drop(waiting));
    assert_eq!(text_of(&realm, "runTask(); new Error('x').stack.split('\\n').length"), "2");
    assert_eq!(*result.borrow(), None);
    assert_eq!(text_of(&realm, "[1, 2].map((k) => k + 1).join()"), "2,3");
}

#[test]
fn a_panic_after_waiting_is_an_error_of_that_fiber_alone() {
    let (pool, realm) = (StackPool::new(), realm());
    let panics = "(() => { try { panicAfter(1) } catch (e) { return `${e} ${wait(2)}` } })()";
    let (mut one, first) = fiber(&pool, &realm, panics);
    let (mut two, second) = fiber(&pool, &realm, "(() => { wait(1); return new Error('x').stack })()");
    assert_eq!((one.resume(), two.resume()), (Progress::Waiting, Progress::Waiting));
    assert_eq!((one.resume(), two.resume()), (Progress::Waiting, Progress::Ended));
    assert_eq!(one.resume(), Progress::Ended);
    assert_eq!(first.borrow().as_deref(), Some("InternalError: a native function panicked 2"));
    assert!(
        second.borrow().as_ref().is_some_and(|stack| stack.starts_with("    at <anonymous> (test.js:1:"))
    );
}

#[test]
fn cancelling_works_whatever_a_script_does() {
    let sources = [
        // The global classes of errors are replaced.
        "globalThis.InternalError = function () { return { fake: true } }; globalThis.Error = null; \
         (() => { for (;;) { try { wait(1) } catch (e) { return 'caught' } } })()",
        // The native drops the error that it must pass on.
        "for (;;) dropError(1)",
        "for (;;) { try { dropError(1) } catch {} finally { continue } }",
        // Closing an iterator calls code of the script, which never ends.
        "for (const k of { [Symbol.iterator]: () => ({ next: () => ({}), return() { for (;;); } }) }) wait(k)",
        "for (const k of (function* () { try { yield wait(1) } finally { for (;;) wait(2) } })()) wait(k)",
        "[...(function* () { for (;;) { try { yield wait(1) } catch {} finally { wait(2) } } })()]",
        "(() => { const f = () => { try { f() } catch {} dropError(1) }; f(); for (;;); })()",
        "JSON.stringify({ toJSON() { for (;;) { try { wait(1) } catch {} } } })",
        "new Proxy({}, { get() { for (;;) try { wait(1) } finally { continue } } }).x",
    ];
    for source in sources {
        let (pool, realm) = (StackPool::new(), realm());
        for waits in 1..4 {
            let (mut one, result) = fiber(&pool, &realm, source);
            for _ in 0..waits {
                one.resume();
            }
            one.cancel();
            assert!(one.has_ended(), "{source}");
            assert_eq!(result.borrow().as_deref(), Some("Cancelled"), "{source}");
        }
    }
}

#[test]
fn a_fiber_that_is_cancelled_before_its_start_never_starts() {
    let (pool, realm) = (StackPool::new(), realm());
    let (mut one, result) = fiber(&pool, &realm, "1");
    one.cancel();
    assert!(one.has_ended());
    assert_eq!(one.resume(), Progress::Ended);
    assert_eq!(*result.borrow(), None);
}

#[test]
fn fibers_of_two_runtimes_take_turns_on_one_thread() {
    let (pool, one, two) = (StackPool::new(), realm(), realm());
    let source =
        "(function f(n) { if (n) return f(n - 1); wait(1); try { null.x } catch (e) { return e.stack } })(3)";
    let mut fibers: Vec<_> =
        (0..10).map(|at| fiber(&pool, if at % 2 == 0 { &one } else { &two }, source)).collect();
    for (fiber, _) in &mut fibers {
        assert_eq!(fiber.resume(), Progress::Waiting);
    }
    for (fiber, result) in fibers.iter_mut().rev() {
        assert_eq!(fiber.resume(), Progress::Ended);
        assert_eq!(result.borrow().as_ref().map(|stack| stack.lines().count()), Some(5));
    }
}

#[test]
fn a_native_may_run_a_fiber_of_another_runtime() {
    let (pool, outer, inner) = (StackPool::new(), realm(), realm());
    let endless =
        "(() => { const f = () => f() + 1; try { f() } catch (e) { return `${e.message} ${wait(1)}` } })()";
    let (nested, result) = fiber(&pool, &inner, endless);
    let (nested, log) = (Rc::new(RefCell::new(nested)), Rc::new(RefCell::new(Vec::new())));
    let (own, of, texts) = (Rc::clone(&nested), outer.clone(), Rc::clone(&log));
    let other = inner.clone();
    set_task(&outer, move || {
        assert_eq!(own.borrow_mut().resume(), Progress::Waiting);
        // On the stack of this fiber, JavaScript of the other runtime has the rest of this stack.
        let source = "(() => { const f = () => f() + 1; try { f() } catch (e) { return e.message } })()";
        texts.borrow_mut().push(text_of(&other, source));
        texts.borrow_mut().push(text_of(&of, source));
    });
    let (mut outside, done) = fiber(&pool, &outer, "runTask(); wait(1); 'done'");
    assert_eq!(outside.resume(), Progress::Waiting);
    assert_eq!(nested.borrow_mut().resume(), Progress::Ended);
    assert_eq!(outside.resume(), Progress::Ended);
    assert_eq!(result.borrow().as_deref(), Some("Maximum call stack size exceeded 1"));
    assert_eq!(done.borrow().as_deref(), Some("done"));
    assert_eq!(*log.borrow(), ["Maximum call stack size exceeded"; 2]);
}

#[test]
fn values_may_outlive_everything_else() {
    let (value, error): (Value, Thrown) = {
        let (pool, realm) = (StackPool::new(), realm());
        let (mut one, _) = fiber(&pool, &realm, "wait({})");
        assert_eq!(one.resume(), Progress::Waiting);
        let error = realm.eval("throw { code: 3 }", "test.js").expect_err("an error");
        (realm.eval("({ a: { b: 1 } })", "test.js").expect("a value"), error)
    };
    assert_eq!(value.to_json().expect("JSON").as_deref(), Some("{\"a\":{\"b\":1}}"));
    assert!(matches!(error, Thrown::Value(thrown) if thrown.to_json().is_ok()));
}

#[test]
fn a_realm_may_be_dropped_while_a_fiber_of_it_waits() {
    let (pool, one) = (StackPool::new(), realm());
    let two: Realm = realm_of(one.runtime());
    let (mut waiting, result) =
        fiber(&pool, &two, "(() => { const a = [1, 2]; wait(1); return a.concat(3).join() })()");
    assert_eq!(waiting.resume(), Progress::Waiting);
    drop(two);
    one.runtime().collect();
    assert_eq!(waiting.resume(), Progress::Ended);
    assert_eq!(result.borrow().as_deref(), Some("1,2,3"));
}

#[test]
fn a_detached_buffer_has_no_bytes_and_leaves_no_error_behind() {
    let realm = realm();
    let buffer =
        realm.eval("globalThis.b = new ArrayBuffer(4); b.transfer(); b", "test.js").expect("a buffer");
    assert_eq!(buffer.bytes(), None);
    let view = realm.eval("new Uint8Array([1, 2, 3]).subarray(1)", "test.js").expect("a view");
    assert_eq!(view.bytes(), Some(vec![2, 3]));
    assert_eq!(text_of(&realm, "1 + 1"), "2");
}

#[test]
fn names_of_data_are_not_kept() {
    let realm = realm();
    let object = realm.object();
    let touch = |from: u32| {
        for at in from..from + 2_000 {
            let name = format!("a name of data that is used once: {at}");
            object.set_str(&name, realm.number(1.0)).expect("a property");
            assert!(object.get_str(&format!("{name}?")).expect("a value").is_undefined());
            object.call_method("toString", &[]).expect("a text");
        }
    };
    touch(0);
    let fresh = |realm: &Realm| realm.runtime().memory().bytes;
    let before = fresh(&realm);
    for round in 1..4 {
        for at in 0..2_000 {
            let name = format!("missing {round} {at}");
            assert!(object.get_str(&name).expect("a value").is_undefined());
        }
    }
    assert!(fresh(&realm) < before + 10_000, "{before} {}", fresh(&realm));
}

/// A fiber whose body returns at once keeps nothing.
#[test]
fn a_fiber_that_was_never_resumed_drops_its_body() {
    let (pool, realm, held) = (StackPool::new(), realm(), Rc::new(()));
    let own = Rc::clone(&held);
    drop(Fiber::new(&pool, realm.runtime(), move || drop(own)).expect("a stack"));
    assert_eq!(Rc::strong_count(&held), 1);
}
