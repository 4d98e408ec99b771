//! The account of a stream of events: how many there should have been, which were lost, repeated or out of order, and
//! how old they were. Exact in constant memory, because thousands of streams are open at once.
//!
//! The engine counts the events themselves; here is what needs a look into them, or a memory.

mod account;
mod correlate;
mod find;
mod instant;

pub use account::Watch;
pub use correlate::Correlator;

use find::Finder;
use plimsoll_plan::stream::{Stream, TimeUnit};

/// What is looked at in the events of one request, compiled.
pub struct Ledger {
    sequence: Option<Finder>,
    made_at: Option<(Finder, TimeUnit)>,
    every_ns: Option<u64>,
    /// The stream is opened again: the id seen last is needed.
    keeps_id: bool,
}

impl Ledger {
    /// Compiles the accounting of a stream.
    ///
    /// # Errors
    /// A sentence naming the path or the expression that cannot be read, or a period of 0 ns.
    pub fn compile(stream: &Stream) -> Result<Ledger, String> {
        if stream.every_ns == Some(0) {
            return Err("a stream cannot have an event every `0` ns: give a longer period".into());
        }
        let made_at = match &stream.made_at {
            Some((place, unit)) => Some((Finder::compile(place)?, *unit)),
            None => None,
        };
        Ok(Ledger {
            sequence: stream.sequence.as_ref().map(Finder::compile).transpose()?,
            made_at,
            every_ns: stream.every_ns,
            keeps_id: stream.reconnects > 0,
        })
    }

    /// Returns whether the account needs the data of events.
    pub fn reads_data(&self) -> bool {
        self.sequence.is_some() || self.made_at.is_some()
    }
}
