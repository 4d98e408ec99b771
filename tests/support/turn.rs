//! Turns: tests that load real sockets share one machine, and mostly wait for a load to end. Tests that compare times
//! closely run alone; the others run concurrently.
//!
//! A test inside a network namespace is a separate process, for which its parent has taken the turn (`namespace`).

use super::namespace;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of concurrent loads: at a few hundred requests per second each, two cores are mostly idle.
const AT_ONCE: usize = 4;
/// A test that failed alongside others is repeated alone, and that result counts. It is repeated up to this many times
/// if plimsoll itself reports that the load generator was disturbed: such a result does not answer the test's question.
const TRIES_DISTURBED: usize = 3;
/// Codes of such reports: cautions of a run, and reasons why a search or a comparison is inconclusive.
const DISTURBANCES: [&str; 5] =
    ["client_stalled", "offered_rate_missed", "late_sends", "client_cpu_wait", "generator_limited"];

thread_local! {
    /// Whether any output in this test contained such a code.
    static DISTURBED: Cell<bool> = const { Cell::new(false) };
    /// The codes that this test provokes.
    static PROVOKED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Declares that this test disturbs the load generator itself: it expects these codes, so they excuse no failure.
pub fn provokes(codes: &[&'static str]) {
    PROVOKED.with_borrow_mut(|provoked| provoked.extend_from_slice(codes));
}

/// Searches the tool's output for such codes. They are in quotes or backticks; other words may contain them.
pub(super) fn watch_output(output: &str) {
    let contains =
        |code: &str| [format!("\"{code}\""), format!("`{code}`")].iter().any(|c| output.contains(c));
    let is_provoked = |code: &str| PROVOKED.with_borrow(|provoked| provoked.contains(&code));
    if DISTURBANCES.iter().any(|code| !is_provoked(code) && contains(code)) {
        DISTURBED.set(true);
    }
}

/// Names of the tests that have a turn.
struct Turns {
    alongside: Vec<String>,
    alone: Option<String>,
    waiting_alongside: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { alongside: Vec::new(), alone: None, waiting_alongside: 0 });
static CHANGED: Condvar = Condvar::new();

/// A turn; it ends when dropped.
pub struct Turn {
    /// The name of a test that runs alongside others.
    alongside: Option<String>,
}

/// A poisoned lock is not an error here: the test that panicked has already reported it.
fn turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum duration of a turn; a test that waits longer fails, and names the test that hangs.
fn longest_turn() -> Duration {
    let is_nightly = std::env::var_os("PLIMSOLL_NIGHTLY").is_some_and(|value| value == "1");
    Duration::from_secs(60 * if is_nightly { 90 } else { 10 })
}

/// Waits while a condition is true, which may take many turns of others. A test that times out is removed from the
/// number of waiting tests.
fn wait_while(
    mut turns: MutexGuard<'static, Turns>,
    counted: usize,
    blocked: impl Fn(&Turns) -> bool,
) -> MutexGuard<'static, Turns> {
    while blocked(&turns) {
        let (next, waited) =
            CHANGED.wait_timeout(turns, longest_turn()).unwrap_or_else(PoisonError::into_inner);
        turns = next;
        if waited.timed_out() && blocked(&turns) {
            turns.waiting_alongside -= counted;
            let held_by: Vec<&String> = turns.alongside.iter().chain(&turns.alone).collect();
            panic!("no turn ended for {} s: {held_by:?}", longest_turn().as_secs());
        }
    }
    turns
}

/// A turn for a test that compares times: two of them would disturb each other. It waits for all tests that run
/// alongside others, so that it does not interrupt their concurrency.
pub fn alone() -> Turn {
    let mut turns = wait_while(turns(), 0, |turns| {
        turns.alone.is_some() || !turns.alongside.is_empty() || turns.waiting_alongside > 0
    });
    turns.alone = Some(name());
    Turn { alongside: None }
}

/// A turn for a test that makes load but does not check its times: it may run alongside others of its kind.
pub fn run_alongside() -> Turn {
    let mut turns = turns();
    turns.waiting_alongside += 1;
    let mut turns = wait_while(turns, 1, |turns| turns.alone.is_some() || turns.alongside.len() >= AT_ONCE);
    turns.waiting_alongside -= 1;
    turns.alongside.push(name());
    Turn { alongside: Some(name()) }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = turns();
        match &self.alongside {
            None => turns.alone = None,
            Some(name) => {
                let at = turns.alongside.iter().position(|own| own == name);
                at.map(|at| turns.alongside.swap_remove(at));
            }
        }
        drop(turns);
        CHANGED.notify_all();
    }
}

/// Returns the name of the current test.
fn name() -> String {
    namespace::inside_of().unwrap_or_else(|| std::thread::current().name().unwrap_or("a test").to_owned())
}

/// Runs a test with coarse times, first alongside others. If that fails, it is repeated alone, and that result counts:
/// other processes disturb randomly, a defect fails every time.
pub fn alongside_first(body: impl Fn()) {
    // This thread may have run another test before.
    PROVOKED.with_borrow_mut(Vec::clear);
    let tried = || catch_unwind(AssertUnwindSafe(&body));
    {
        let _turn = run_alongside();
        let Err(cause) = tried() else { return };
        note_repeat(&format!("it failed alongside others: {}", first_line(&*cause)));
    }
    let _alone = alone();
    for _ in 0..TRIES_DISTURBED {
        DISTURBED.set(false);
        match tried() {
            Ok(()) => return,
            Err(cause) if !DISTURBED.get() => resume_unwind(cause),
            Err(_) => note_repeat("plimsoll reports that the load generator was disturbed"),
        }
    }
    // The last attempt counts in any case.
    body();
}

/// Returns the first line of a panic's message.
fn first_line(cause: &(dyn std::any::Any + Send)) -> &str {
    let said = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    said.and_then(|said| said.lines().next()).unwrap_or_default()
}

/// Notes that this test is repeated.
fn note_repeat(why: &str) {
    note(&format!("repeated: {}: {why}", name()));
}

/// Notes another attempt of a comparison that is more precise than the machine's noise.
pub fn note_retry(why: &str) {
    note(&format!("retried: {}: {}", name(), why.lines().next().unwrap_or_default()));
}

/// Also writes the note to a file for xtask, because the test program hides the output of a passing test.
fn note(line: &str) {
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("PLIMSOLL_REPEATED_TESTS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .expect("the list of repeated tests is writable");
    }
}
