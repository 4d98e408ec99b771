//! A tick as it travels from an agent to a coordinator, which adds up a thousand of them per second.

use super::{GeneratorRecord, TickRow};
use crate::event::{Tick, WorkerTimes};
use plimsoll_stats::Error;
use plimsoll_stats::interval::Interval;

/// A tick with its row of the record. The interval stays encoded, and is added to a sum as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedTick {
    number: u32,
    interval: Box<[u8]>,
    row: TickRow,
    /// By worker.
    pub pulses: Vec<WorkerTimes>,
}

impl EncodedTick {
    /// Encodes a tick of the load generator that `record` is about.
    pub fn of(tick: &Tick, record: &GeneratorRecord) -> Self {
        let mut interval = Vec::new();
        tick.interval.encode(&mut interval);
        EncodedTick {
            number: tick.interval.tick,
            interval: interval.into(),
            row: TickRow::of(&tick.interval, &record.opening.outline, &record.opened),
            pulses: tick.pulses.clone(),
        }
    }

    /// Creates a tick from the bytes of [`EncodedTick::interval`] and [`EncodedTick::row`].
    ///
    /// # Errors
    /// Returns an error if the row is not one. Damage in the interval shows when it is added to a sum.
    pub fn from_bytes(interval: &[u8], row: &[u8], pulses: Vec<WorkerTimes>) -> Result<Self, Error> {
        let row = TickRow::from_bytes(row.into())?;
        Ok(EncodedTick { number: Interval::tick_of(interval)?, interval: interval.into(), row, pulses })
    }

    /// Returns the number of the tick.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the encoded interval.
    pub fn interval(&self) -> &[u8] {
        &self.interval
    }

    /// Returns the encoded row.
    pub fn row(&self) -> &[u8] {
        self.row.bytes()
    }

    /// Returns the row.
    pub(crate) fn tick_row(&self) -> &TickRow {
        &self.row
    }
}
