//! The one handle by which a running load is steered from outside: an interrupt, or any other command.

use plimsoll_engine::{Command, Commander};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steers one run; clones steer the same run. It outlives the run harmlessly: commands to an ended run go
/// nowhere.
#[derive(Clone)]
pub struct Helm {
    commander: Commander,
    interrupted: Arc<AtomicBool>,
}

impl Helm {
    pub(crate) fn new(commander: Commander) -> Self {
        Self { commander, interrupted: Arc::new(AtomicBool::new(false)) }
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

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}
