//! Matches the messages of a WebSocket with those that they respond to.

use super::find::Finder;
use plimsoll_plan::program::Event;
use plimsoll_plan::websocket::Correlation;

/// A compiled [`Correlation`].
pub struct Correlator(Option<Finder>);

impl Correlator {
    /// # Errors
    /// Returns an error that names the invalid path or expression.
    pub fn compile(correlation: &Correlation) -> Result<Correlator, String> {
        match correlation {
            Correlation::Next => Ok(Correlator(None)),
            Correlation::Id(place) => Finder::compile(place).map(Some).map(Correlator),
        }
    }

    /// Returns whether the next message responds to the oldest one.
    pub fn is_next(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the hash of the ID in a message; `None` if it has none. `room` is overwritten. Two IDs of the messages
    /// that wait on one socket have the same hash less than once in 10^12 messages.
    pub fn hash(&self, data: &[u8], room: &mut Vec<u8>) -> Option<u64> {
        let Some(finder) = &self.0 else { return Some(0) };
        let value = finder.find(&Event { id: 0, name: b"", data, event_id: None }, room)?;
        // FNV-1a (Fowler, Noll, Vo), mixed at the end, because IDs often differ only in their last digit.
        let hash = value.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Some(hash ^ hash >> 29)
    }
}
