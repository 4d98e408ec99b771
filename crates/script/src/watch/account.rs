//! The account of one open stream.
//!
//! Of the numbers only the last 64 are remembered, as a bit each. A number that is missing may still come while it is
//! among them; when it falls out, it is lost for good, and counted at once, so that a stream that never ends has its
//! losses counted too, but for the last 64. The same delay holds for events that are due by a stated period.

use super::Ledger;
use super::instant::{sequence_number, unix_ns};
use plimsoll_plan::metric::{StreamHist, StreamSum};
use plimsoll_plan::program::{At, Count, Event, RequestId};

/// How many of the last numbers are remembered: the bits of [`Watch::window`].
const WINDOW: u64 = u64::BITS as u64;
/// A number further ahead than this is no gap but nonsense: the sums of a run could not hold a few of them.
const AHEAD_MAX: u64 = 1 << 32;

/// One stream's account: what was opened once, and again behind each end by the server. 96 bytes.
#[derive(Debug)]
pub struct Watch {
    opened_ns: u64,
    /// Periods that had passed on the connections before this one.
    due_before: u64,
    /// Events of all connections, saturating.
    received: u32,
    /// Events of this connection, saturating.
    events: u32,
    /// Bit i: the number `highest - i` is not missing: it has come, or it is below `lowest`. 0: no number was seen yet.
    window: u64,
    highest: u64,
    /// The lowest number that counts as expected.
    lowest: u64,
    /// Counted as expected so far, and as lost.
    expected: u64,
    lost: u64,
    /// The id seen last, for `Last-Event-ID`.
    last_id: Vec<u8>,
}

impl Watch {
    /// A stream whose head came at `opened_run_ns` from the start of the run.
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

    /// Accounts for an event. `room` is reused for values that have to be unescaped.
    ///
    /// Counts `EventsExpected` and `EventsLost` as far as they are certain, `EventsRepeated`, `EventsDisordered`,
    /// `EventsUnnumbered` and `EventAge`. Not `Events`, `FirstEvent` and `EventGap`, which are the engine's. An event
    /// in which no instant is found has no age.
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
            // Two clocks: an event from the future has just been made.
            let age_ns = at.unix_ns.saturating_sub(made_ns);
            counts.push(Count::hist(series, StreamHist::EventAge, age_ns));
        }
    }

    /// The connection has ended and the stream will be opened again behind the last id: counts `StreamLife` and
    /// `StreamEvents`. What is missing may still come; call [`Watch::reopen`] when the new head is there, or
    /// [`Watch::give_up`] when none comes.
    pub fn interrupt(&mut self, ledger: &Ledger, series: RequestId, at: At, counts: &mut Vec<Count>) {
        counts.push(Count::hist(series, StreamHist::StreamLife, at.run_ns.saturating_sub(self.opened_ns)));
        counts.push(Count::hist(series, StreamHist::StreamEvents, u64::from(self.events)));
        if let Some(every_ns) = ledger.every_ns {
            self.due_before = self.due(every_ns, at);
        }
        self.events = 0;
        self.opened_ns = at.run_ns;
    }

    /// The head of the stream opened again came. Its first number is expected to be the next one: what lies between was
    /// lost, what came before is repeated.
    pub fn reopen(&mut self, opened_run_ns: u64) {
        self.opened_ns = opened_run_ns;
    }

    /// Behind [`Watch::interrupt`], when the stream was not opened again: settles what is missing.
    pub fn give_up(&mut self, ledger: &Ledger, series: RequestId, counts: &mut Vec<Count>) {
        self.settle(ledger, series, self.due_before, counts);
    }

    /// The stream has ended, whoever ended it, or the run stops while it is open. Counts `StreamLife`, `StreamEvents`,
    /// and settles `EventsExpected` and `EventsLost`: with a sequence, from the lowest number to the highest, and as
    /// many more as were due by the period; without one, what was due by the period. To be called once.
    pub fn end(&mut self, ledger: &Ledger, series: RequestId, at: At, counts: &mut Vec<Count>) {
        self.interrupt(ledger, series, at, counts);
        self.give_up(ledger, series, counts);
    }

    /// The id to say in `Last-Event-ID`, if there was one; kept only where the stream may be opened again.
    pub fn last_id(&self) -> Option<&[u8]> {
        // An empty `id:` takes the id back (WHATWG HTML section 9.2.6).
        if self.last_id.is_empty() { None } else { Some(&self.last_id) }
    }

    /// Events of the connection that is open.
    pub fn events(&self) -> u64 {
        u64::from(self.events)
    }

    /// Periods that have passed, over all connections.
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

    /// The highest number rises by `by`; what falls out of the window and has not come is lost.
    fn advance(&mut self, by: u64, sum: &mut impl FnMut(StreamSum, u64)) {
        let missing = if by < WINDOW {
            // The bits at the upper end are the oldest numbers.
            let leaving = !self.window >> (WINDOW - by);
            self.window = self.window << by | 1;
            u64::from(leaving.count_ones())
        } else {
            // All of the window, and of the numbers between those that do not even come into the new one.
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
            // Whether it was lost or had come is forgotten; that it came behind a later one is certain.
            return sum(StreamSum::EventsOutOfOrder, 1);
        }
        if number < self.lowest {
            // The stream began with a swap: the true first number comes late.
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

    /// Without numbers: `due` events should have come. Those that are late by more than `slack` events are lost.
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
        // No bit is missing when no number was seen.
        let missing = if self.window == 0 { 0 } else { u64::from(self.window.count_zeros()) };
        let more = due.saturating_sub(self.expected);
        self.await_more(more, &mut sum);
        if missing + more > 0 {
            sum(StreamSum::EventsLost, missing + more);
        }
    }
}
