//! The difference between two monotonic clocks, from exchanges of messages.
//!
//! The agent notes its time, asks, and notes its time again; the coordinator answers with its time. That time lies
//! between the two of the agent, so the offset is known within half of the round trip (Cristian, "Probabilistic clock
//! synchronization", 1989). Of several exchanges, the shortest one has the tightest bound.

use crate::message::ClockOffset;

/// Number of exchanges for one measurement. One may hit a pause of either side; eight rarely do.
pub const EXCHANGES: usize = 16;

/// One question and its answer, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Time of the agent before the question.
    pub asked_ns: u64,
    /// Time of the coordinator.
    pub answer_ns: u64,
    /// Time of the agent after the answer.
    pub heard_ns: u64,
}

impl Exchange {
    /// Returns the offset of this exchange alone: coordinator time = agent time + offset.
    pub fn offset(&self) -> ClockOffset {
        let round_trip_ns = self.heard_ns.saturating_sub(self.asked_ns);
        let middle_ns = i128::from(self.asked_ns) + i128::from(round_trip_ns / 2);
        let offset_ns = i128::from(self.answer_ns) - middle_ns;
        // Clocks of two machines differ by their uptimes, far less than 292 years.
        ClockOffset { offset_ns: offset_ns as i64, bound_ns: round_trip_ns.div_ceil(2) }
    }
}

/// Returns the offset with the smallest bound; `None` without exchanges.
pub fn best(exchanges: &[Exchange]) -> Option<ClockOffset> {
    exchanges.iter().map(Exchange::offset).min_by_key(|one| one.bound_ns)
}

impl ClockOffset {
    /// Converts a time of the coordinator to the agent's clock.
    pub fn to_agent_ns(&self, coordinator_ns: u64) -> u64 {
        (i128::from(coordinator_ns) - i128::from(self.offset_ns)).max(0) as u64
    }

    /// Converts a time of the agent to the coordinator's clock.
    pub fn to_coordinator_ns(&self, agent_ns: u64) -> u64 {
        (i128::from(agent_ns) + i128::from(self.offset_ns)).max(0) as u64
    }
}
