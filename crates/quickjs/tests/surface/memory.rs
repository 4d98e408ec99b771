//! Memory: a limit ends in ordinary errors, and a fiber that waits needs little.

use super::support::{fiber, realm, text_of};
use plimsoll_quickjs::{Fiber, Progress, StackPool, Thrown};

const MIB: usize = 1024 * 1024;

/// Ways to ask for far more than the limit.
const WAYS: [&str; 9] = [
    "'x'.repeat(1000000000)",
    "let s = 'x'.repeat(1000); for (;;) s += s",
    "new ArrayBuffer(1000000000)",
    "new Float64Array(200000000)",
    "const all = []; for (;;) all.push({ a: [1, 2, 3] })",
    "const map = new Map(); for (let i = 0; ; i++) map.set(i, `text ${i}`)",
    "new Array(100000000).fill(0)",
    "JSON.parse('[' + '1,'.repeat(20000000) + '1]')",
    "(1n << 100000000n) * (1n << 300000000n)",
];

#[test]
fn a_limit_throws_an_error_that_can_be_caught_while_others_wait() {
    let (pool, realm) = (StackPool::new(), realm());
    let waits = "(() => { const kept = [1, 2, 3].map((k) => wait(k)); return kept.join() })()";
    let (mut other, result) = fiber(&pool, &realm, waits);
    assert_eq!(other.resume(), Progress::Waiting);
    realm.runtime().set_memory_limit(Some(48 * MIB));
    for way in WAYS {
        let source =
            format!("(() => {{ try {{ {way} }} catch (e) {{ return String(e) }} return 'returned' }})()");
        let (mut greedy, answer) = fiber(&pool, &realm, &source);
        assert_eq!(greedy.resume(), Progress::Ended);
        let answer = answer.borrow().clone().expect("a result");
        // `null` if there is no memory for the error either.
        let ordinary = ["InternalError: out of memory", "InternalError: string too long", "null"];
        let is_ordinary = ordinary.contains(&answer.as_str());
        assert!(is_ordinary || answer.starts_with("RangeError"), "{way}: {answer}");
        realm.runtime().collect();
        assert_eq!(other.resume() == Progress::Ended, other.has_ended());
    }
    assert_eq!(result.borrow().as_deref(), Some("1,2,3"));
    assert!(realm.runtime().memory().bytes < 8 * MIB as u64, "{:?}", realm.runtime().memory());
}

#[test]
fn the_error_of_a_limit_reaches_the_caller() {
    let realm = realm();
    realm.runtime().set_memory_limit(Some(16 * MIB));
    let thrown = realm.eval("'x'.repeat(900000000)", "test.js").expect_err("an error");
    assert!(
        matches!(&thrown, Thrown::Value(value) if value.describe() == "InternalError: out of memory"),
        "{thrown:?}"
    );
    realm.runtime().set_memory_limit(None);
    assert_eq!(text_of(&realm, "'x'.repeat(90000000).length"), "90000000");
}

#[test]
fn a_limit_that_is_reached_at_any_allocation_leaves_a_usable_runtime() {
    let (pool, realm) = (StackPool::new(), realm());
    let work = "(() => { const f = (n) => n ? [wait({ n }), ...f(n - 1)] : []; \
                try { f(20); return JSON.stringify(f(9)).length } catch (e) { return `caught ${e}` } })()";
    let used = realm.runtime().memory().bytes as usize;
    let mut caught = 0;
    for extra in (0..60).map(|step| step * step * 61) {
        let (mut one, result) = fiber(&pool, &realm, work);
        realm.runtime().set_memory_limit(Some(used + extra));
        while one.resume() == Progress::Waiting {}
        realm.runtime().set_memory_limit(None);
        caught += usize::from(result.borrow().as_deref() != Some("73"));
        assert_eq!(text_of(&realm, "[1, 2].map((k) => k * 2).join()"), "2,4");
    }
    assert!((5..60).contains(&caught), "{caught} of 60");
}

/// Returns the resident memory of this process, bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the kernel's file");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number") * 4096
}

/// Starts many fibers that wait three calls deep, and returns the memory of each.
fn bytes_per_waiting_fiber(count: usize) -> usize {
    const SOURCE: &str = "(() => { const get = (k) => ({ status: wait(k) }); const check = (k) => get(k).status === k; \
                          return function iteration(k) { return check(k) } })()";
    let (pool, realm) = (StackPool::new(), realm());
    let iteration = realm.eval(SOURCE, "test.js").expect("a function");
    let before = resident();
    let mut fibers: Vec<Fiber> = Vec::with_capacity(count);
    for at in 0..count {
        let iteration = iteration.clone();
        let body = move || {
            let realm = iteration.realm();
            let answer = iteration.call(&realm.undefined(), &[&realm.number(at as f64)]).expect("a value");
            assert!(answer.truth());
        };
        fibers.push(Fiber::new(&pool, realm.runtime(), body).expect("a stack"));
        assert_eq!(fibers[at].resume(), Progress::Waiting);
    }
    let each = (resident() - before) / count;
    for fiber in &mut fibers {
        assert_eq!(fiber.resume(), Progress::Ended);
    }
    each
}

#[test]
fn forty_thousand_fibers_wait_at_once_in_10_kib_each() {
    const CHILD: &str = "PLIMSOLL_QUICKJS_RESIDENT";
    // Alone in a process: other tests use memory, too.
    if std::env::var_os(CHILD).is_some() {
        println!("each={}", bytes_per_waiting_fiber(40_000));
        return;
    }
    let name = "surface::memory::forty_thousand_fibers_wait_at_once_in_10_kib_each";
    let own = std::env::current_exe().expect("the path of the test");
    let output =
        std::process::Command::new(own).args([name, "--exact", "--nocapture"]).env(CHILD, "1").output();
    let output = output.expect("a child");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let each = text.split("each=").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a figure");
    let each: usize = each.parse().expect("a number");
    assert!((1_000..=10 * 1024).contains(&each), "{each} bytes");
}
