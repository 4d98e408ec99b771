//! Signals: the first one ends the run with a report, the second one ends the program.

use crate::exit::{Exit, Failure};
use crate::part::PartOrder;
use plimsoll_control::RunController;
use plimsoll_engine::signals::{Kind, Signals};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Waits for SIGINT, SIGTERM, and SIGHUP on its own thread while the program runs.
#[derive(Clone)]
pub struct Interrupts {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    times: u32,
    /// Exit code after the first interrupt.
    exit: Option<Exit>,
    /// The run that a first interrupt ends.
    controller: Option<RunController>,
    /// Whether commands are being read already.
    is_heard: bool,
    /// The coordinator of agents that run the load instead of this process.
    coordinator: Option<Sender<String>>,
    /// Commands received before the load of this generator started, if it is one of several. The others may have
    /// started and followed them.
    early: Option<Vec<String>>,
    /// Receiver of the coordinator's orders, if this process is the load generator of an agent. An interrupt drops it,
    /// so that code that waits for an order wakes up.
    orders: Option<Sender<PartOrder>>,
}

/// Maximum number of early commands, against a sender that never stops.
const EARLY_MAX: usize = 1_000;

impl Interrupts {
    /// Takes over the signals. Call it before any other thread starts: a thread that has not inherited the blocked
    /// mask would let the signal kill the process.
    ///
    /// # Errors
    /// Returns an error if the kernel rejects the mask or the thread.
    pub fn install() -> Result<Self, Failure> {
        let failed = |what: &dyn std::fmt::Display| {
            Failure::machine(format!("cannot wait for interrupts: {what}"), None)
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

    /// Makes a first interrupt end this run; if one came before the run existed, ends the run at once.
    pub fn steer(&self, controller: RunController) {
        let mut state = self.lock();
        if state.times > 0 {
            controller.interrupt();
        }
        state.controller = Some(controller);
    }

    /// Makes a first interrupt end this run; earlier interrupts ended the previous run.
    pub fn steer_anew(&self, controller: RunController) {
        self.lock().controller = Some(controller);
    }

    /// Makes a first interrupt end this load and sends commands to it, beginning with those kept from before the
    /// load.
    pub fn begin(&self, controller: RunController, obey: impl Fn(&RunController, &str)) {
        self.steer(controller.clone());
        let mut state = self.lock();
        // Holds the lock, so that no later command overtakes them.
        state.early.take().into_iter().flatten().for_each(|line| obey(&controller, &line));
    }

    /// Keeps commands that arrive before the load until it starts.
    pub fn keep_early(&self) {
        self.lock().early = Some(Vec::new());
    }

    /// Returns true if the load has not started and the line was kept for it.
    pub fn is_kept(&self, line: &str) -> bool {
        let mut state = self.lock();
        let Some(early) = state.early.as_mut().filter(|early| early.len() < EARLY_MAX) else { return false };
        early.push(line.to_owned());
        true
    }

    /// Sends future commands to the coordinator of agents.
    pub fn control(&self, lines: Option<Sender<String>>) {
        self.lock().coordinator = lines;
    }

    /// Passes a line to the coordinator of agents that run the load instead of this process; returns false if there is
    /// none.
    pub fn pass_on(&self, line: &str) -> bool {
        self.lock().coordinator.as_ref().is_some_and(|lines| lines.send(line.to_owned()).is_ok())
    }

    /// Sends orders of the coordinator to `orders` until an interrupt.
    pub fn order_to(&self, orders: Sender<PartOrder>) {
        let mut state = self.lock();
        state.orders = Some(orders).filter(|_| state.times == 0);
    }

    /// Passes on an order of the coordinator; returns false if this process has none.
    pub fn order(&self, order: PartOrder) -> bool {
        self.lock().orders.as_ref().is_some_and(|orders| orders.send(order).is_ok())
    }

    /// Returns whether there was an interrupt so far.
    pub fn happened(&self) -> bool {
        self.lock().times > 0
    }

    /// Returns the current run, or the last one.
    pub fn controller(&self) -> Option<RunController> {
        self.lock().controller.clone()
    }

    /// Acts like a first interrupt; a second call changes nothing.
    pub fn once(&self) {
        let mut state = self.lock();
        if state.times == 0 {
            one_more(&mut state, Exit::Interrupted);
        }
    }

    /// Returns the exit code of a command that would have ended with `exit`. After an interrupt, the code shows the
    /// signal, unless the command missed a threshold or failed anyway.
    pub fn exit(&self, exit: Exit) -> Exit {
        match (exit, self.lock().exit) {
            (Exit::Pass | Exit::Inconclusive | Exit::Interrupted, Some(cut_short)) => cut_short,
            _ => exit,
        }
    }

    /// Returns the failure of a command that was interrupted before its load.
    pub fn cut_short(&self, sentence: impl Into<String>) -> Failure {
        Failure::CutShort { sentence: sentence.into(), exit: self.exit(Exit::Interrupted) }
    }

    /// Replaces a failure after an interrupt, because the same signal may have stopped the service as well.
    pub fn instead_of(&self, failure: Failure) -> Failure {
        match failure {
            Failure::CutShort { .. } => failure,
            _ if self.happened() => self.cut_short("interrupted before the load"),
            _ => failure,
        }
    }

    /// Returns true on the first call; commands are read in one place.
    pub fn is_first_to_listen(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_heard, true)
    }

    /// A thread that panicked while holding the lock cannot have left the state inconsistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn one_more(state: &mut State, exit: Exit) {
    state.times += 1;
    state.orders = None;
    let first = *state.exit.get_or_insert(exit);
    match &state.controller {
        Some(controller) if state.times == 1 => controller.interrupt(),
        None if state.times == 1 => {}
        // The run file is readable up to its last second; it is designed for this exit.
        _ => std::process::exit(first.code().into()),
    }
}
