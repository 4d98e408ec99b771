//! Promises: their jobs run in order, one at a time, and rejections that nothing handles are listed.

use super::support::{fiber, realm, realm_of, text_of};
use plimsoll_quickjs::{Progress, Realm, StackPool};

/// Runs waiting jobs to the end.
fn drain(realm: &Realm) {
    while realm.run_job().expect("no error") {}
}

#[test]
fn jobs_run_in_the_order_of_the_standard() {
    let realm = realm();
    let source = "globalThis.log = []; \
        (async () => { log.push(1); await null; log.push(4); await new Promise((done) => done()); log.push(7) })(); \
        Promise.resolve().then(() => log.push(5)).then(() => log.push(8)); \
        queueMicrotask(() => log.push(6)); \
        (async () => { try { await Promise.reject('x') } catch { log.push(9) } finally { log.push(10) } })(); \
        log.push(2); log.push(3); log.join()";
    assert_eq!(text_of(&realm, source), "1,2,3");
    assert!(realm.runtime().has_jobs());
    drain(&realm);
    // The third function rejects first, and its handler runs in the first round.
    assert_eq!(text_of(&realm, "log.join()"), "1,2,3,4,5,6,9,10,7,8");
    assert!(!realm.runtime().has_jobs());
}

#[test]
fn a_job_can_wait_on_a_fiber_while_others_run() {
    let (pool, realm) = (StackPool::new(), realm());
    text_of(
        &realm,
        "globalThis.log = []; Promise.resolve().then(() => log.push(wait('a'))).then(() => log.push('c'))",
    );
    let of = realm.clone();
    let mut jobs = plimsoll_quickjs::Fiber::new(&pool, realm.runtime(), move || drain(&of)).expect("a stack");
    assert_eq!(jobs.resume(), Progress::Waiting);
    assert_eq!(text_of(&realm, "log.push('b'); log.join()"), "b");
    assert_eq!(jobs.resume(), Progress::Ended);
    assert_eq!(text_of(&realm, "log.join()"), "b,a,c");
}

#[test]
fn rejections_that_nothing_handles_are_listed_once() {
    let realm = realm();
    realm.runtime().track_rejections();
    text_of(
        &realm,
        "Promise.reject(new Error('one')); Promise.reject(2).catch(() => {}); Promise.reject('three')",
    );
    drain(&realm);
    let reasons = |realm: &Realm| -> Vec<String> {
        realm.take_rejections().iter().map(|one| one.reason.describe()).collect()
    };
    assert_eq!(reasons(&realm), ["Error: one", "three"]);
    assert!(realm.take_rejections().is_empty());
    // Handled before anyone looks: not listed.
    text_of(&realm, "globalThis.late = Promise.reject(4)");
    text_of(&realm, "late.catch(() => {})");
    drain(&realm);
    assert!(realm.take_rejections().is_empty());
    text_of(&realm, "(async () => { await null; throw new TypeError('in async') })()");
    drain(&realm);
    let found = realm.take_rejections();
    assert_eq!(found.len(), 1);
    assert!(found[0].promise.is_promise());
    assert_eq!(found[0].reason.describe(), "TypeError: in async");
}

#[test]
fn rejections_are_not_kept_unless_they_are_tracked() {
    let realm = realm();
    text_of(&realm, "Promise.reject(1)");
    drain(&realm);
    assert!(realm.take_rejections().is_empty());
}

#[test]
fn rejections_that_nobody_takes_are_freed_with_the_runtime() {
    let realm = realm();
    realm.runtime().track_rejections();
    text_of(&realm, "for (let i = 0; i < 10; i++) Promise.reject({ i })");
}

#[test]
fn a_cancelled_async_function_does_not_continue() {
    let (pool, realm) = (StackPool::new(), realm());
    realm.runtime().track_rejections();
    let source = "globalThis.log = []; (async () => { for (let i = 0; i < 3; i++) { \
                  try { log.push(wait(i)); await null } catch (e) { log.push('caught') } finally { log.push('end') } } \
                  })().catch(() => log.push('late')); log.push('after')";
    let (mut one, _) = fiber(&pool, &realm, source);
    assert_eq!(one.resume(), Progress::Waiting);
    one.cancel();
    assert!(one.has_ended());
    let log = text_of(&realm, "log.join()");
    assert!(!log.contains("caught") && !log.contains("end"), "{log}");
}

#[test]
fn jobs_of_a_realm_that_was_dropped_still_run() {
    let (one, pool) = (realm(), StackPool::new());
    let two = realm_of(one.runtime());
    text_of(
        &two,
        "Promise.resolve().then(); Promise.resolve().then(() => collect()); Promise.resolve({ then: null })",
    );
    two.global().set_str("other", one.global()).expect("a property");
    text_of(&two, "other.log = []; Promise.resolve(7).then((k) => { collect(); other.log.push(k) })");
    drop(two);
    one.runtime().collect();
    let of = one.clone();
    let mut jobs = plimsoll_quickjs::Fiber::new(&pool, one.runtime(), move || drain(&of)).expect("a stack");
    assert_eq!(jobs.resume(), Progress::Ended);
    assert_eq!(text_of(&one, "log.join()"), "7");
}

#[test]
fn a_finalization_registry_calls_back_in_a_job_and_not_in_the_collection() {
    let realm = realm();
    text_of(
        &realm,
        "globalThis.log = []; globalThis.registry = new FinalizationRegistry((held) => log.push(held)); \
                  (() => { const ring = {}; ring.ring = ring; registry.register(ring, 'ring') })(); 1",
    );
    realm.runtime().collect();
    assert_eq!(text_of(&realm, "log.join()"), "");
    drain(&realm);
    assert_eq!(text_of(&realm, "log.join()"), "ring");
}

#[test]
fn jobs_of_a_fiber_that_waits_are_not_run_by_others() {
    let (pool, realm) = (StackPool::new(), realm());
    text_of(&realm, "globalThis.log = []");
    let run = |name: &str| {
        let of = realm.clone();
        let text = format!(
            "Promise.resolve().then(() => log.push('{name}1')); log.push(wait('{name}0')); \
             queueMicrotask(() => log.push('{name}2'))"
        );
        let body = move || {
            of.eval(&text, "own.js").expect("no error");
            drain(&of);
        };
        plimsoll_quickjs::Fiber::new(&pool, realm.runtime(), body).expect("a stack")
    };
    let (mut a, mut b) = (run("a"), run("b"));
    assert_eq!(a.resume(), Progress::Waiting);
    assert!(!realm.runtime().has_jobs(), "they wait with their fiber");
    assert_eq!(b.resume(), Progress::Waiting);
    assert_eq!(b.resume(), Progress::Ended);
    assert_eq!(text_of(&realm, "log.join()"), "b0,b1,b2");
    assert_eq!(a.resume(), Progress::Ended);
    assert_eq!(text_of(&realm, "log.join()"), "b0,b1,b2,a0,a1,a2");
}

#[test]
fn jobs_that_were_taken_run_before_later_ones_or_never() {
    let realm = realm();
    let runtime = realm.runtime().clone();
    text_of(&realm, "globalThis.log = []; for (const n of [1, 2]) queueMicrotask(() => log.push(n))");
    let first = runtime.take_jobs().expect("two jobs");
    assert!(runtime.take_jobs().is_none());
    text_of(&realm, "queueMicrotask(() => log.push(3))");
    let second = runtime.take_jobs().expect("a job");
    text_of(&realm, "queueMicrotask(() => log.push(4))");
    runtime.put_jobs(first);
    drain(&realm);
    assert_eq!(text_of(&realm, "log.join()"), "1,2,4");
    drop(second);
    drain(&realm);
    assert_eq!(text_of(&realm, "log.join()"), "1,2,4", "jobs that were dropped never run");
}

#[test]
#[should_panic(expected = "jobs of another runtime")]
fn jobs_of_another_runtime_are_refused() {
    let (one, other) = (realm(), realm());
    text_of(&one, "queueMicrotask(() => {})");
    other.runtime().put_jobs(one.runtime().take_jobs().expect("a job"));
}
