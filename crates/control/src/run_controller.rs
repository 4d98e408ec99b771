//! Handle for steering a running load from outside: an interrupt, a command, or a note for its timeline.

use crate::manual_control::{Done, ManualControl};
use plimsoll_engine::{Command, Commander};
use plimsoll_plan::Outline;
use plimsoll_record::event::Note;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Controller of one run, shared by its clones. It may outlive the run; commands to an ended run have no effect.
#[derive(Clone)]
pub struct RunController {
    commander: Commander,
    interrupted: Arc<AtomicBool>,
    hand: Arc<Mutex<ManualControl>>,
}

impl RunController {
    /// Creates the controller of a load that may be steered manually.
    pub(crate) fn new(commander: Commander, outline: &Outline) -> Self {
        Self::with(commander, ManualControl::on(outline))
    }

    /// Creates the controller of a setup or teardown, which can only be interrupted.
    pub(crate) fn aside(commander: Commander) -> Self {
        Self::with(commander, ManualControl::off())
    }

    fn with(commander: Commander, hand: ManualControl) -> Self {
        Self { commander, interrupted: Arc::new(AtomicBool::new(false)), hand: Arc::new(Mutex::new(hand)) }
    }

    /// Ends the run now on the user's behalf: an ordinary ending, with a report.
    pub fn interrupt(&self) {
        // Stored before the command, so that the resulting ending sees it.
        self.interrupted.store(true, Ordering::SeqCst);
        self.commander.send(Command::Stop);
    }

    /// Passes a command to the engine.
    pub fn command(&self, command: Command) {
        self.commander.send(command);
    }

    /// Adds a note to the timeline at this moment.
    ///
    /// # Errors
    /// Returns an error if the note is empty or no load is running.
    pub fn note(&self, text: &str) -> Result<(), String> {
        self.hand().note(text, plimsoll_engine::clock::now_ns())
    }

    /// Starts no further requests. Responses still arrive, and the run's time continues.
    ///
    /// # Errors
    /// Returns an error if the load is already paused or no load is running.
    pub fn pause(&self) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.pause(now_ns))
    }

    /// Ends a pause; what was due during the pause is skipped.
    ///
    /// # Errors
    /// Returns an error if the load is not paused.
    pub fn resume(&self) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.resume(now_ns))
    }

    /// Multiplies the load by a factor.
    ///
    /// # Errors
    /// Returns an error if the shape of the load does not allow it.
    pub fn scale(&self, factor: f64) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.scale(factor, now_ns))
    }

    /// Multiplies the load by a factor after agent `agent` was lost; `left` agents send the whole load now.
    ///
    /// # Errors
    /// Returns an error if the shape of the load does not allow it.
    pub fn rebalance(&self, factor: f64, left: u32, agent: &str) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.rebalance(factor, left, agent, now_ns))
    }

    /// Sends the command while holding the lock, so that the timeline lists commands in the order of their execution.
    fn steer(
        &self,
        how: impl FnOnce(&mut ManualControl, u64) -> Result<Command, String>,
    ) -> Result<(), String> {
        let mut hand = self.hand();
        let command = how(&mut hand, plimsoll_engine::clock::now_ns())?;
        self.commander.send(command);
        Ok(())
    }

    /// Returns the notes since the last call, for a run that began at `begin_ns` of the engine's clock.
    pub(crate) fn notes(&self, begin_ns: Option<u64>) -> Vec<Note> {
        let done = self.hand().done();
        let at_ns = |now_ns: u64| begin_ns.map_or(0, |begin_ns| now_ns.saturating_sub(begin_ns));
        let note = |Done { now_ns, mut note }: Done| {
            note.at_ns = at_ns(now_ns);
            note
        };
        done.into_iter().map(note).collect()
    }

    /// Returns whether the load is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.hand().is_paused()
    }

    /// Marks the run as ended, so that it cannot be steered any more.
    pub(crate) fn let_go(&self) {
        self.hand().let_go();
    }

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// A thread that panicked while holding the lock cannot have left the state inconsistent.
    fn hand(&self) -> MutexGuard<'_, ManualControl> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
