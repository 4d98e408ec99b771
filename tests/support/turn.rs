//! Whose turn it is: tests that load real sockets share one machine, and most of their time is spent waiting for a load
//! to end. What looks closely at times has the machine to itself; the rest goes side by side.
//!
//! A test inside a network namespace is a process of its own, for which its parent has taken the turn: see `namespace`.

use super::namespace;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Loads at once: a few hundred requests a second each leave two cores idle nearly always, so that they rarely meet.
const AT_ONCE: usize = 4;
/// A test that failed beside others is made again alone, and that counts. It is made so much oftener if the tool itself
/// said that this machine was in the way: that is an answer, but not to the test's question.
const TRIES_DISTURBED: usize = 3;
/// How it says so: doubts of a run, and why a search or a comparison refused to answer.
const OF_THE_MACHINE: [&str; 5] =
    ["client_stalled", "offered_rate_missed", "late_sends", "client_cpu_wait", "generator_limited"];

thread_local! {
    /// Whether any output that this test has seen spoke of the machine.
    static DISTURBED: Cell<bool> = const { Cell::new(false) };
    /// What this test provokes.
    static ASKED_FOR: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Said by a test that stands in the tool's way itself: these codes are what it wants to hear and excuse nothing.
pub fn asks_for(codes: &[&'static str]) {
    ASKED_FOR.with_borrow_mut(|asked| asked.extend_from_slice(codes));
}

/// Hears what the tool printed. Codes stand in quotes of either kind; other words hold them as a part.
pub(super) fn hear(said: &str) {
    let is_told = |code: &str| [format!("\"{code}\""), format!("`{code}`")].iter().any(|c| said.contains(c));
    let is_asked_for = |code: &str| ASKED_FOR.with_borrow(|asked| asked.contains(&code));
    if OF_THE_MACHINE.iter().any(|code| !is_asked_for(code) && is_told(code)) {
        DISTURBED.set(true);
    }
}

/// Names of tests.
struct Turns {
    beside: Vec<String>,
    alone: Option<String>,
    waiting_beside: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { beside: Vec::new(), alone: None, waiting_beside: 0 });
static CHANGED: Condvar = Condvar::new();

/// Held while it is one's turn.
pub struct Turn {
    /// Of the test, where it goes beside others.
    beside: Option<String>,
}

/// A test that failed in its turn has already said so.
fn turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No turn is longer; who waits for longer waits for a test that hangs, and says for which.
fn longest_turn() -> Duration {
    let is_nightly = std::env::var_os("PLIMSOLL_NIGHTLY").is_some_and(|value| value == "1");
    Duration::from_secs(60 * if is_nightly { 90 } else { 10 })
}

/// Waits until it is not so, which may take many turns of others. Who gives up is not waiting any more, and may be one
/// of those that are counted.
fn while_so(
    mut turns: MutexGuard<'static, Turns>,
    counted: usize,
    so: impl Fn(&Turns) -> bool,
) -> MutexGuard<'static, Turns> {
    while so(&turns) {
        let (next, waited) =
            CHANGED.wait_timeout(turns, longest_turn()).unwrap_or_else(PoisonError::into_inner);
        turns = next;
        if waited.timed_out() && so(&turns) {
            turns.waiting_beside -= counted;
            let held_by: Vec<&String> = turns.beside.iter().chain(&turns.alone).collect();
            panic!("no turn ended for {} s: {held_by:?}", longest_turn().as_secs());
        }
    }
    turns
}

/// Held by a test that measures on real sockets: two of them at once would measure each other. It waits until all that
/// may go side by side has gone, so that those are not kept apart by it.
pub fn alone() -> Turn {
    let mut turns = while_so(turns(), 0, |turns| {
        turns.alone.is_some() || !turns.beside.is_empty() || turns.waiting_beside > 0
    });
    turns.alone = Some(name());
    Turn { beside: None }
}

/// Held by a test that makes load and does not look at its times: it may run beside others of its kind.
pub fn run_alongside() -> Turn {
    let mut turns = turns();
    turns.waiting_beside += 1;
    let mut turns = while_so(turns, 1, |turns| turns.alone.is_some() || turns.beside.len() >= AT_ONCE);
    turns.waiting_beside -= 1;
    turns.beside.push(name());
    Turn { beside: Some(name()) }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = turns();
        match &self.beside {
            None => turns.alone = None,
            Some(name) => {
                let at = turns.beside.iter().position(|own| own == name);
                at.map(|at| turns.beside.swap_remove(at));
            }
        }
        drop(turns);
        CHANGED.notify_all();
    }
}

/// Of the test that asks.
fn name() -> String {
    namespace::inside_of().unwrap_or_else(|| std::thread::current().name().unwrap_or("a test").to_owned())
}

/// For a body that asserts, and whose times are coarse: it goes beside others first. What failed then is made again
/// alone, and that counts: a neighbour disturbs at random, a defect is there always.
pub fn beside_first(body: impl Fn()) {
    // One test may follow another on this thread.
    ASKED_FOR.with_borrow_mut(Vec::clear);
    let tried = || catch_unwind(AssertUnwindSafe(&body));
    {
        let _beside = run_alongside();
        let Err(cause) = tried() else { return };
        again(&format!("it failed beside others: {}", first_line(&*cause)));
    }
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

/// What a panic said.
fn first_line(cause: &(dyn std::any::Any + Send)) -> &str {
    let said = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    said.and_then(|said| said.lines().next()).unwrap_or_default()
}

/// Notes that this test is made again.
fn again(why: &str) {
    note(&format!("made again: {}: {why}", name()));
}

/// Notes that a comparison is tried again which is finer than the machine's noise.
pub fn tried_again(why: &str) {
    note(&format!("tried again: {}: {}", name(), why.lines().next().unwrap_or_default()));
}

/// The test program hides what a passing test prints, so it goes into a file for the one who started it as well.
fn note(line: &str) {
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("PLIMSOLL_TESTS_MADE_AGAIN") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .expect("the list of tests made again is writable");
    }
}
