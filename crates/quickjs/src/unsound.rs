//! Tests of runtimes whose frames are not switched, or at a wrong place. A signal ends the process of such a runtime,
//! so each has its own process: the test starts itself again.

use crate::runtime::{Frames, Runtime};
use crate::torture::{Found, NATIVES, Torture};
use crate::{Fiber, Progress, Realm, StackPool};
use std::process::{Command, ExitStatus};

/// The name of the test that runs as a child.
const CHILD: &str = "PLIMSOLL_QUICKJS_CHILD";
/// CPU time after which a child ends by a signal, s: corrupt memory may also end in an endless loop.
const LIMIT_S: libc::rlim_t = 10;

/// Runs `body` in a child of this test, named `name`. Returns how it ended; in the child, it does not return.
fn child(name: &str, body: impl FnOnce() -> bool) -> ExitStatus {
    if std::env::var(CHILD).is_ok_and(|own| own == name) {
        for (resource, limit) in [(libc::RLIMIT_CORE, 0), (libc::RLIMIT_CPU, LIMIT_S)] {
            let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: The call only sets a limit of this process.
            unsafe { libc::setrlimit(resource, &raw const limit) };
        }
        std::process::exit(if body() { 0 } else { 1 });
    }
    let own = std::env::current_exe().expect("the path of the test");
    let path = format!("unsound::{name}");
    let mut command = Command::new(own);
    command.args([&path, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, name);
    command.output().expect("a child").status
}

fn torture(frames: Frames) -> Found {
    let runtime = Runtime::with_frames(NATIVES, frames).expect("a runtime");
    let torture = Torture {
        fibers: 5,
        suspensions: 20_000,
        seed: 1,
        cancels_per_million: 0,
        collections_per_million: 0,
    };
    torture.run(&runtime)
}

#[test]
fn the_torture_notices_frames_that_are_not_switched() {
    let ended = child("the_torture_notices_frames_that_are_not_switched", || {
        torture(Frames::Mixed).mismatches.is_empty()
    });
    assert!(!ended.success(), "the torture is blind: it has found nothing");
}

#[test]
fn the_torture_in_a_child_passes_if_frames_are_switched() {
    let offset = crate::frame_offset().expect("an offset");
    let ended = child("the_torture_in_a_child_passes_if_frames_are_switched", || {
        torture(Frames::Switched(offset)).mismatches.is_empty()
    });
    assert!(ended.success(), "{ended}");
}

#[test]
fn a_wrong_offset_stops_the_process_at_the_first_wait() {
    let wrong = crate::frame_offset().expect("an offset") + size_of::<usize>();
    let ended = child("a_wrong_offset_stops_the_process_at_the_first_wait", || {
        torture(Frames::Switched(wrong));
        true
    });
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(libc::SIGABRT), "{ended}");
}

/// Returns a fiber that waits once in a call of JavaScript.
fn waiting(pool: &StackPool, realm: &Realm) -> Fiber {
    let of = realm.clone();
    let body = move || {
        let runtime = of.runtime().clone();
        let _ = of.eval("1 + 1", "one.js").expect("a value");
        // The torture's natives need a host; waiting outside of JavaScript is enough here.
        let _ = runtime.wait();
        let stack = of.eval("(function f() { return new Error('x').stack })()", "own.js").expect("a value");
        assert_eq!(stack.as_text().map(|text| text.lines().count()), Some(2));
    };
    Fiber::new(pool, realm.runtime(), body).expect("a stack")
}

#[test]
#[should_panic(expected = "this runtime can have only one fiber")]
fn a_runtime_without_the_word_refuses_a_second_fiber() {
    let runtime = Runtime::with_frames(NATIVES, Frames::Single).expect("a runtime");
    let (pool, realm) = (StackPool::new(), Realm::new(&runtime).expect("a realm"));
    let (mut one, mut two) = (waiting(&pool, &realm), waiting(&pool, &realm));
    assert_eq!(one.resume(), Progress::Waiting);
    two.resume();
}

#[test]
fn a_runtime_without_the_word_has_one_fiber_after_the_other() {
    let runtimes = [(); 2].map(|()| Runtime::with_frames(NATIVES, Frames::Single).expect("a runtime"));
    let pool = StackPool::new();
    for _ in 0..3 {
        let mut fibers = Vec::new();
        for runtime in &runtimes {
            let realm = Realm::new(runtime).expect("a realm");
            fibers.push(waiting(&pool, &realm));
        }
        for fiber in &mut fibers {
            assert_eq!(fiber.resume(), Progress::Waiting);
        }
        for fiber in &mut fibers {
            assert_eq!(fiber.resume(), Progress::Ended);
        }
    }
}
