//! The account of one open stream.
//!
//! Only the last 64 numbers are remembered, one bit each. A missing number may still arrive while it is among them.
//! After that it is lost and counted immediately. So the losses of a stream that never ends are counted too, except
//! for the last 64 numbers. The same delay applies to events that are due by `expected_interval`.

use super::Ledger;
use super::instant::{sequence_number, unix_ns};
use plimsoll_plan::metric::{StreamHist, StreamSum};
use plimsoll_plan::program::{At, Count, Event, RequestId};

/// The size of the memory in numbers: the bits of [`Watch::window`].
const WINDOW: u64 = u64::BITS as u64;
/// A number further ahead than this is invalid rather than a gap: a few of these would overflow the sums of a run.
const AHEAD_MAX: u64 = 1 << 32;

/// The account of one stream, over all its connections. 96 bytes.
#[derive(Debug)]
pub struct Watch {
    opened_ns: u64,
    /// Periods that passed on earlier connections.
    due_before: u64,
    /// Events of all connections, saturating.
    received: u32,
    /// Events of this connection, saturating.
    events: u32,
    /// Bit i is set if the number `highest - i` is not missing: it arrived, or is below `lowest`. 0 before the first.
    window: u64,
    highest: u64,
    /// The lowest number that counts as expected.
    lowest: u64,
    /// Numbers counted as expected so far, and as lost.
    expected: u64,
    lost: u64,
    /// The last `id`, for `Last-Event-ID`.
    last_id: Vec<u8>,
}

impl Watch {
    /// Returns the account of a stream whose head arrived at `opened_run_ns` on the run's time axis.
    pub fn new(opened_run_ns: u64) -> Watch {
        Watch {
            opened_ns: opened_run_ns,
            due_before: 0,
            received: 0,
            events: 0,
            window: 0,
            highest: 0,
            lowest: 0,
            expected: 0,
            lost: 0,
            last_id: Vec::new(),
        }
    }

    /// Accounts for an event. `room` is reused for values that must be unescaped.
    ///
    /// Counts `EventsExpected` and `EventsLost` as far as they are certain, and `EventsDuplicated`, `EventsOutOfOrder`,
    /// `EventsUnnumbered`, and `EventAge`. The engine counts `Events`, `FirstEvent`, and `EventGap`. An event without a
    /// timestamp has no age.
    pub fn event(
        &mut self,
        ledger: &Ledger,
        series: RequestId,
        event: &Event<'_>,
        at: At,
        room: &mut Vec<u8>,
        counts: &mut Vec<Count>,
    ) {
        self.received = self.received.saturating_add(1);
        self.events = self.events.saturating_add(1);
        if let Some(id) = event.event_id.filter(|_| ledger.keeps_id) {
            self.last_id.clear();
            self.last_id.extend_from_slice(id);
        }
        let mut sum = |what, count| counts.push(Count::sum(series, what, count));
        if let Some(finder) = &ledger.sequence {
            match finder.find(event, room).and_then(sequence_number) {
                Some(number) => self.number(number, &mut sum),
                None => sum(StreamSum::EventsUnnumbered, 1),
            }
        } else if let Some(every_ns) = ledger.every_ns {
            self.settle_periods(self.due(every_ns, at), WINDOW, &mut sum);
        }
        if let Some((finder, unit)) = &ledger.made_at
            && let Some(made_ns) = finder.find(event, room).and_then(|text| unix_ns(text, *unit))
        {
            // The two clocks differ: an event from the future counts as just made.
            let age_ns = at.unix_ns.saturating_sub(made_ns);
            counts.push(Count::hist(series, StreamHist::EventAge, age_ns));
        }
    }

    /// Notes that the connection has ended and that the stream will be reopened after the last `id`. Counts
    /// `StreamLife` and `StreamEvents`. Missing events may still arrive. Call [`Watch::reopen`] when the new head
    /// arrives, or [`Watch::give_up`] if it does not.
    pub fn interrupt(&mut self, ledger: &Ledger, series: RequestId, at: At, counts: &mut Vec<Count>) {
        counts.push(Count::hist(series, StreamHist::StreamLife, at.run_ns.saturating_sub(self.opened_ns)));
        counts.push(Count::hist(series, StreamHist::StreamEvents, u64::from(self.events)));
        if let Some(every_ns) = ledger.every_ns {
            self.due_before = self.due(every_ns, at);
        }
        self.events = 0;
        self.opened_ns = at.run_ns;
    }

    /// Notes the head of the reopened stream. Its first number should be the next one: numbers in between are lost, and
    /// earlier ones are duplicates.
    pub fn reopen(&mut self, opened_run_ns: u64) {
        self.opened_ns = opened_run_ns;
    }

    /// Settles what is missing after [`Watch::interrupt`] if the stream was not reopened.
    pub fn give_up(&mut self, ledger: &Ledger, series: RequestId, counts: &mut Vec<Count>) {
        self.settle(ledger, series, self.due_before, counts);
    }

    /// Notes the end of the stream by either side, or the end of the run while it is open. Counts `StreamLife` and
    /// `StreamEvents`, and settles `EventsExpected` and `EventsLost`. With a sequence, these cover the numbers from the
    /// lowest to the highest, and any further ones that were due. Without one, they cover the events that were due.
    /// Call this once.
    pub fn end(&mut self, ledger: &Ledger, series: RequestId, at: At, counts: &mut Vec<Count>) {
        self.interrupt(ledger, series, at, counts);
        self.give_up(ledger, series, counts);
    }

    /// Returns the `Last-Event-ID` to send, if any. It is kept only if the stream may be reopened.
    pub fn last_id(&self) -> Option<&[u8]> {
        // An empty `id:` clears it (WHATWG HTML section 9.2.6).
        if self.last_id.is_empty() { None } else { Some(&self.last_id) }
    }

    /// Returns the number of events of the current connection.
    pub fn events(&self) -> u64 {
        u64::from(self.events)
    }

    /// Returns the number of periods that have passed, over all connections.
    fn due(&self, every_ns: u64, at: At) -> u64 {
        self.due_before + at.run_ns.saturating_sub(self.opened_ns) / every_ns
    }

    fn number(&mut self, number: u64, sum: &mut impl FnMut(StreamSum, u64)) {
        if self.window == 0 {
            (self.highest, self.lowest, self.window) = (number, number, u64::MAX);
            self.await_more(1, sum);
        } else if number > self.highest {
            match number - self.highest {
                by @ ..=AHEAD_MAX => self.advance(by, sum),
                _ => sum(StreamSum::EventsUnnumbered, 1),
            }
        } else {
            self.late(number, sum);
        }
    }

    /// Raises the highest number by `by`. Numbers that leave the window without having arrived are lost.
    fn advance(&mut self, by: u64, sum: &mut impl FnMut(StreamSum, u64)) {
        let missing = if by < WINDOW {
            // The bits at the upper end are those of the oldest numbers.
            let leaving = !self.window >> (WINDOW - by);
            self.window = self.window << by | 1;
            u64::from(leaving.count_ones())
        } else {
            // The whole window is dropped, and so are the numbers in between that never enter the new window.
            let leaving = !self.window;
            self.window = 1;
            u64::from(leaving.count_ones()) + (by - WINDOW)
        };
        self.highest += by;
        self.await_more(by, sum);
        if missing > 0 {
            self.lost = self.lost.saturating_add(missing);
            sum(StreamSum::EventsLost, missing);
        }
    }

    fn late(&mut self, number: u64, sum: &mut impl FnMut(StreamSum, u64)) {
        let back = self.highest - number;
        if back >= WINDOW {
            // It is unknown whether this number was lost or is a duplicate, but it certainly followed a later one.
            return sum(StreamSum::EventsOutOfOrder, 1);
        }
        if number < self.lowest {
            // The stream began out of order: its true first number arrives late.
            let more = self.lowest - number;
            // proof: back < 64, and back - more is the distance of the old `lowest` from `highest`
            let between = ((1u64 << (more - 1)) - 1) << (back - more + 1);
            self.window &= !between;
            self.lowest = number;
            self.await_more(more, sum);
            return sum(StreamSum::EventsOutOfOrder, 1);
        }
        let bit = 1u64 << back;
        if self.window & bit != 0 {
            sum(StreamSum::EventsDuplicated, 1);
        } else {
            self.window |= bit;
            sum(StreamSum::EventsOutOfOrder, 1);
        }
    }

    fn await_more(&mut self, more: u64, sum: &mut impl FnMut(StreamSum, u64)) {
        self.expected = self.expected.saturating_add(more);
        if more > 0 {
            sum(StreamSum::EventsExpected, more);
        }
    }

    /// Settles a stream without numbers, of which `due` events should have arrived. Events that are late by more than
    /// `slack` events are lost.
    fn settle_periods(&mut self, due: u64, slack: u64, sum: &mut impl FnMut(StreamSum, u64)) {
        self.await_more(due.saturating_sub(self.expected), sum);
        let missing = due.saturating_sub(u64::from(self.received)).saturating_sub(slack);
        if missing > self.lost {
            sum(StreamSum::EventsLost, missing - self.lost);
            self.lost = missing;
        }
    }

    fn settle(&mut self, ledger: &Ledger, series: RequestId, due: u64, counts: &mut Vec<Count>) {
        let mut sum = |what, count| counts.push(Count::sum(series, what, count));
        if ledger.sequence.is_none() {
            return self.settle_periods(due, 0, &mut sum);
        }
        // Before the first number, no bit is missing.
        let missing = if self.window == 0 { 0 } else { u64::from(self.window.count_zeros()) };
        let more = due.saturating_sub(self.expected);
        self.await_more(more, &mut sum);
        if missing + more > 0 {
            sum(StreamSum::EventsLost, missing + more);
        }
    }
}
