//! The one handle by which a running load is steered from outside: an interrupt, a command, a line for its timeline.

use crate::manual_control::{Done, ManualControl};
use plimsoll_engine::{Command, Commander};
use plimsoll_plan::Outline;
use plimsoll_record::event::Note;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Steers one run; clones steer the same run. It outlives the run harmlessly: commands to an ended run go
/// nowhere.
#[derive(Clone)]
pub struct RunController {
    commander: Commander,
    interrupted: Arc<AtomicBool>,
    hand: Arc<Mutex<ManualControl>>,
}

impl RunController {
    /// For a load that may be steered by hand.
    pub(crate) fn new(commander: Commander, outline: &Outline) -> Self {
        Self::with(commander, ManualControl::on(outline))
    }

    /// For what is done beside the load: it can only be interrupted.
    pub(crate) fn aside(commander: Commander) -> Self {
        Self::with(commander, ManualControl::off())
    }

    fn with(commander: Commander, hand: ManualControl) -> Self {
        Self { commander, interrupted: Arc::new(AtomicBool::new(false)), hand: Arc::new(Mutex::new(hand)) }
    }

    /// Ends the run now, in the name of the person in front of it: an ordinary ending, with a report.
    pub fn interrupt(&self) {
        // Stored before the command, so that the ending which the command causes sees it.
        self.interrupted.store(true, Ordering::SeqCst);
        self.commander.send(Command::Stop);
    }

    /// Passes a command on to the engine.
    pub fn command(&self, command: Command) {
        self.commander.send(command);
    }

    /// Puts somebody's words into the timeline, at this moment.
    ///
    /// # Errors
    /// A sentence when there is nothing to say, or no load is going on.
    pub fn note(&self, text: &str) -> Result<(), String> {
        self.hand().note(text, plimsoll_engine::clock::now_ns())
    }

    /// Starts nothing new from now on; answers still come in, and the run's time goes on.
    ///
    /// # Errors
    /// A sentence when the load is paused already, or none is going on.
    pub fn pause(&self) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.pause(now_ns))
    }

    /// Ends a pause; what came due in it is not made up for.
    ///
    /// # Errors
    /// A sentence when nothing is paused.
    pub fn resume(&self) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.resume(now_ns))
    }

    /// Makes the load so many times what it is now.
    ///
    /// # Errors
    /// A sentence when the shape of the load does not allow it.
    pub fn scale(&self, factor: f64) -> Result<(), String> {
        self.steer(|hand, now_ns| hand.scale(factor, now_ns))
    }

    /// The command goes out under the lock, so that the timeline tells of commands in the order in which they were
    /// obeyed.
    fn steer(
        &self,
        how: impl FnOnce(&mut ManualControl, u64) -> Result<Command, String>,
    ) -> Result<(), String> {
        let mut hand = self.hand();
        let command = how(&mut hand, plimsoll_engine::clock::now_ns())?;
        self.commander.send(command);
        Ok(())
    }

    /// Lines for the timeline that came since the last call, of a run that began at `begin_ns` of the engine's clock.
    pub(crate) fn notes(&self, begin_ns: Option<u64>) -> Vec<Note> {
        let done = self.hand().done();
        let at_ns = |now_ns: u64| begin_ns.map_or(0, |begin_ns| now_ns.saturating_sub(begin_ns));
        let note = |Done { now_ns, mut note }: Done| {
            note.at_ns = at_ns(now_ns);
            note
        };
        done.into_iter().map(note).collect()
    }

    /// Somebody has paused the load.
    pub(crate) fn is_paused(&self) -> bool {
        self.hand().is_paused()
    }

    /// The run has ended: there is nothing left to steer.
    pub(crate) fn let_go(&self) {
        self.hand().let_go();
    }

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// A thread that panicked while holding the lock left nothing half-done in it.
    fn hand(&self) -> MutexGuard<'_, ManualControl> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
