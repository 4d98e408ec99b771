//! Ctrl-C and its like: the first signal ends the run with a report, the second ends the program.

use crate::exit::{Exit, Failure};
use plimsoll_control::RunController;
use plimsoll_engine::signals::{Kind, Signals};
use std::io::Write;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Waits for SIGINT, SIGTERM and SIGHUP on a thread of its own, for as long as the program lives.
#[derive(Clone)]
pub struct Interrupts {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    times: u32,
    /// How the program ends when it was cut short; what came first decides.
    exit: Option<Exit>,
    /// The run that a first interrupt ends.
    controller: Option<RunController>,
    /// Somebody else steers, too.
    is_heard: bool,
    /// The generators that share the run instead of this process: they obey, each on its own.
    crew: Option<GeneratorInputs>,
    /// Of one of several generators, until its load begins: commands that came before. The others may have begun, and
    /// obeyed them.
    early: Option<Vec<String>>,
}

/// More commands than this are not kept; somebody writes them without end.
const EARLY_MAX: usize = 1_000;

/// Where each of several processes reads its commands.
type GeneratorInputs = Arc<Mutex<Vec<ChildStdin>>>;

impl Interrupts {
    /// Takes the signals over. Call it before any other thread is started: a thread that has not inherited
    /// the blocked mask would let the signal kill the process.
    ///
    /// # Errors
    /// When the kernel refuses the mask or the thread.
    pub fn install() -> Result<Self, Failure> {
        let failed = |what: &dyn std::fmt::Display| {
            Failure::machine(format!("interrupts cannot be waited for: {what}"), None)
        };
        let waiting = Signals::block().map_err(|e| failed(&e))?;
        let interrupts = Self { state: Arc::default() };
        let here = interrupts.clone();
        std::thread::Builder::new()
            .name("interrupts".into())
            .spawn(move || {
                loop {
                    match waiting.wait() {
                        Kind::ParentEnded => here.once(),
                        Kind::Interrupt => one_more(&mut here.lock(), Exit::Interrupted),
                        Kind::Terminate => one_more(&mut here.lock(), Exit::Terminated),
                        Kind::HangUp => one_more(&mut here.lock(), Exit::HungUp),
                    }
                }
            })
            .map_err(|e| failed(&e))?;
        Ok(interrupts)
    }

    /// From now on a first interrupt ends this run; one that came before the run existed ends it at once.
    pub fn steer(&self, controller: RunController) {
        let mut state = self.lock();
        if state.times > 0 {
            controller.interrupt();
        }
        state.controller = Some(controller);
    }

    /// From now on a first interrupt ends this run; those that came before were for another one, which they ended.
    pub fn steer_anew(&self, controller: RunController) {
        self.lock().controller = Some(controller);
    }

    /// From now on a first interrupt ends this load, and commands are for it. Those that came too early, and were kept,
    /// are obeyed first.
    pub fn begin(&self, controller: RunController, obey: impl Fn(&RunController, &str)) {
        self.steer(controller.clone());
        let mut state = self.lock();
        // Under the lock, so that no later one overtakes them.
        state.early.take().into_iter().flatten().for_each(|line| obey(&controller, &line));
    }

    /// Commands that come before the load are kept until it begins.
    pub fn keep_early(&self) {
        self.lock().early = Some(Vec::new());
    }

    /// True: the load has not begun, and the line is kept for it.
    pub fn is_kept(&self, line: &str) -> bool {
        let mut state = self.lock();
        let Some(early) = state.early.as_mut().filter(|early| early.len() < EARLY_MAX) else { return false };
        early.push(line.to_owned());
        true
    }

    /// From now on commands are for these processes; none: for the run of this one again.
    pub fn lead(&self, crew: Vec<ChildStdin>) {
        self.lock().crew = (!crew.is_empty()).then(|| Arc::new(Mutex::new(crew)));
    }

    /// Passes a line on to all processes that obey instead of this one; false when there are none.
    pub fn pass_on(&self, line: &str) -> bool {
        // An interrupt must not wait for a process that does not read.
        let Some(crew) = self.lock().crew.clone() else { return false };
        for stdin in crew.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            // One that has ended obeys nothing, and whoever waits for it says why.
            let _ = stdin.write_all(format!("{line}\n").as_bytes());
        }
        true
    }

    /// Whether anybody has interrupted so far.
    pub fn happened(&self) -> bool {
        self.lock().times > 0
    }

    /// The run that is going on, or the last one.
    pub fn controller(&self) -> Option<RunController> {
        self.lock().controller.clone()
    }

    /// As a first interrupt does; a second call changes nothing.
    pub fn once(&self) {
        let mut state = self.lock();
        if state.times == 0 {
            one_more(&mut state, Exit::Interrupted);
        }
    }

    /// The end of a command that would have ended like this. Whoever cut it short sees it in the exit code, unless it
    /// has missed something or could not do it anyway.
    pub fn exit(&self, exit: Exit) -> Exit {
        match (exit, self.lock().exit) {
            (Exit::Pass | Exit::Inconclusive | Exit::Interrupted, Some(cut_short)) => cut_short,
            _ => exit,
        }
    }

    /// The failure of a command that an interrupt ended before its load.
    pub fn cut_short(&self, sentence: impl Into<String>) -> Failure {
        Failure::CutShort { sentence: sentence.into(), exit: self.exit(Exit::Interrupted) }
    }

    /// Replaces a failure that follows an interrupt: the same signal may have ended the service as well.
    pub fn instead_of(&self, failure: Failure) -> Failure {
        match failure {
            Failure::CutShort { .. } => failure,
            _ if self.happened() => self.cut_short("interrupted before the load"),
            _ => failure,
        }
    }

    /// True for the first who asks: commands are read in one place.
    pub fn is_first_to_listen(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_heard, true)
    }

    /// A thread that panicked while holding the lock left nothing half-done in it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn one_more(state: &mut State, exit: Exit) {
    state.times += 1;
    let first = *state.exit.get_or_insert(exit);
    match &state.controller {
        Some(controller) if state.times == 1 => controller.interrupt(),
        None if state.times == 1 => {}
        // The run file is readable up to its last second: this is what it is made for.
        _ => std::process::exit(first.code().into()),
    }
}
