//! Whose turn it is: tests that load real sockets share one machine, and most of their time is spent waiting for a load
//! to end. What looks closely at times has the machine to itself; the rest goes side by side.
//!
//! A test inside a network namespace is a process of its own, whose turn is its parent's: see `namespace`.

use super::namespace;
use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Loads at once: a few hundred requests a second each leave two cores idle nearly always, so that they rarely meet.
const AT_ONCE: usize = 4;
/// A test that failed beside others is made again alone, and that counts. It is made so much oftener if the tool itself
/// said that this machine was in the way: that is an answer, but not to the test's question.
const TRIES_DISTURBED: usize = 3;
/// How it says so: doubts of a run, and why a search or a comparison refused to answer.
const OF_THE_MACHINE: [&str; 5] =
    ["client_stalled", "offered_not_sent", "late_sends", "run_queue", "generator_limited"];

thread_local! {
    /// Whether any output that this test has seen spoke of the machine.
    static DISTURBED: Cell<bool> = const { Cell::new(false) };
}

/// Hears what the tool printed. Codes stand in quotes of either kind; other words hold them as a part.
pub(super) fn hear(said: &str) {
    let is_told = |code: &&str| [format!("\"{code}\""), format!("`{code}`")].iter().any(|c| said.contains(c));
    if OF_THE_MACHINE.iter().any(is_told) {
        DISTURBED.set(true);
    }
}

struct Turns {
    beside: usize,
    alone: bool,
    waiting_beside: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { beside: 0, alone: false, waiting_beside: 0 });
static CHANGED: Condvar = Condvar::new();

/// Held while it is one's turn.
pub struct Turn {
    kind: Kind,
}

#[derive(PartialEq, Eq)]
enum Kind {
    Alone,
    Beside,
    OfTheParent,
}

/// A test that failed in its turn has already said so.
fn turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that measures on real sockets: two of them at once would measure each other. It waits until all that
/// may go side by side has gone, so that those are not kept apart by it.
pub fn alone() -> Turn {
    if namespace::is_inside() {
        return Turn { kind: Kind::OfTheParent };
    }
    let free = |turns: &mut Turns| turns.alone || turns.beside > 0 || turns.waiting_beside > 0;
    let mut turns = CHANGED.wait_while(turns(), free).unwrap_or_else(PoisonError::into_inner);
    turns.alone = true;
    Turn { kind: Kind::Alone }
}

/// Held by a test that makes load and does not look at its times: it may run beside others of its kind.
pub fn beside() -> Turn {
    if namespace::is_inside() {
        return Turn { kind: Kind::OfTheParent };
    }
    let mut turns = turns();
    turns.waiting_beside += 1;
    let full = |turns: &mut Turns| turns.alone || turns.beside >= AT_ONCE;
    let mut turns = CHANGED.wait_while(turns, full).unwrap_or_else(PoisonError::into_inner);
    turns.waiting_beside -= 1;
    turns.beside += 1;
    Turn { kind: Kind::Beside }
}

impl Drop for Turn {
    fn drop(&mut self) {
        match self.kind {
            Kind::Alone => turns().alone = false,
            Kind::Beside => turns().beside -= 1,
            Kind::OfTheParent => return,
        }
        CHANGED.notify_all();
    }
}

/// For a body that asserts, and whose times are coarse: it goes beside others first. What failed then is made again
/// alone, and that counts: a neighbour disturbs at random, a defect is there always.
pub fn beside_first(body: impl Fn()) {
    let tried = || catch_unwind(AssertUnwindSafe(&body));
    {
        let _beside = beside();
        if tried().is_ok() {
            return;
        }
    }
    again("it failed beside others");
    let _alone = alone();
    for _ in 0..TRIES_DISTURBED {
        DISTURBED.set(false);
        match tried() {
            Ok(()) => return,
            Err(cause) if !DISTURBED.get() => resume_unwind(cause),
            Err(_) => again("this machine was in the way, says the tool"),
        }
    }
    // The last try counts whatever the machine does.
    body();
}

/// Notes that this test is made again. The test program hides what a passing test prints, so it goes into a file for
/// the one who started it.
fn again(why: &str) {
    let line = format!("{}: {why}\n", std::thread::current().name().unwrap_or("a test"));
    eprint!("made again: {line}");
    if let Some(path) = std::env::var_os("PLIMSOLL_TESTS_MADE_AGAIN") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("the list of tests made again is writable");
    }
}
