//! Several load generators that share one load: what a session asks of the others.

use plimsoll_engine::Gate;
use std::sync::Arc;

/// The other load generators of a load, as one of them sees them.
pub trait Team {
    /// Returns whether this load generator runs a setup and a teardown whose values the others receive.
    fn is_first(&self) -> bool;

    /// Reports that everything before the load has succeeded here, with what returns the values of setup if it ran
    /// here. Blocks
    /// until the others are ready, too, and returns the values of setup if it ran elsewhere.
    ///
    /// # Errors
    /// Returns why there will be no load: a sentence.
    fn prepared(&self, setup: Option<&dyn Fn() -> Vec<u8>>) -> Result<Option<Vec<u8>>, String>;

    /// Returns what decides when the load begins; `None`: it begins when its users are ready.
    fn gate(&self) -> Option<Arc<dyn Gate>>;

    /// Reports the time on the clock of the engine at which the load has begun here.
    fn begun(&self, begin_ns: u64);

    /// Blocks until the load of every other load generator has ended, or an interrupt.
    fn await_others(&self);
}

/// A team of one: there are no others to wait for.
pub struct Alone;

impl Team for Alone {
    fn is_first(&self) -> bool {
        true
    }

    fn prepared(&self, _setup: Option<&dyn Fn() -> Vec<u8>>) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    fn gate(&self) -> Option<Arc<dyn Gate>> {
        None
    }

    fn begun(&self, _begin_ns: u64) {}

    fn await_others(&self) {}
}
