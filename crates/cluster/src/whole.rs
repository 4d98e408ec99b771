//! The run as a whole while it lasts: adds up the seconds of all agents, for the live view, the circuit breaker, and
//! the thresholds with `abort after`. The record does not depend on it: it is merged from the parts.

use plimsoll_control::breaker::{Breaker, Trip};
use plimsoll_control::gather::{Gather, Refused};
use plimsoll_control::watch::Watch;
use plimsoll_plan::Outline;
use plimsoll_plan::series::SeriesKey;
use plimsoll_record::event::{NoteKind, Opening, RunEvent, StoppedBy, Tick};
use plimsoll_record::record::EncodedTick;
use plimsoll_stats::interval::Interval;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The sum of all parts.
pub struct Whole {
    outline: Outline,
    /// Number of series that every part has from the start.
    fixed: usize,
    parts: Vec<Part>,
    gather: Gather,
    breaker: Option<Breaker>,
    watch: Option<Watch>,
    /// What a part said of its load, such as its interrupt: the others say the same.
    said: BTreeSet<String>,
}

#[derive(Default)]
struct Part {
    /// Series of addresses, which differ between machines.
    addresses: usize,
    /// Series that were opened since the last tick.
    opened: Vec<Arc<SeriesKey>>,
    has_opened: bool,
}

/// What follows from an event of a part.
#[derive(Default)]
pub struct Effect {
    /// Events of the run as a whole.
    pub events: Vec<RunEvent>,
    /// Why the load must stop, and how that is recorded.
    pub trip: Option<(Trip, StoppedBy)>,
}

impl Whole {
    /// Creates the sum of `parts` parts. `outline` is that of the whole load; `breaker` says whether the circuit
    /// breaker may stop it.
    pub fn new(outline: &Outline, parts: usize, breaker: bool) -> Self {
        let fixed = outline.series_count();
        Whole {
            fixed,
            parts: (0..parts).map(|_| Part::default()).collect(),
            gather: Gather::new(parts as u32, fixed, outline.limits.open_series),
            breaker: if breaker { Breaker::new(outline) } else { None },
            watch: Watch::new(outline),
            said: BTreeSet::new(),
            outline: outline.clone(),
        }
    }

    /// Returns the opening of the whole from that of one part.
    pub fn opening(&self, of_part: &Opening, run: &str) -> Opening {
        let mut environment = of_part.environment.clone();
        // Addresses would have separate series.
        (environment.addresses, environment.more_origins) = (Vec::new(), Vec::new());
        environment.agent = None;
        Opening { origin: run.to_owned(), outline: self.outline.clone(), environment, ..of_part.clone() }
    }

    /// Takes an event of a part other than a tick.
    pub fn event(&mut self, at: usize, event: &RunEvent) -> Effect {
        let part = &mut self.parts[at];
        let mut effect = Effect::default();
        match event {
            RunEvent::Opened(opening) => {
                part.addresses = opening.series_count().saturating_sub(self.fixed);
            }
            RunEvent::SeriesOpened(opened) => {
                part.has_opened = true;
                part.opened.push(Arc::clone(&opened.key));
            }
            RunEvent::Ended(_) => self.gather.end(at as u32),
            // Each of them notes that it was paused, or its load changed.
            RunEvent::Noted(note) if at > 0 && matches!(note.kind, NoteKind::Steered(_)) => {}
            RunEvent::Noted(note)
                if note.kind == NoteKind::Control && !self.said.insert(note.text.clone()) => {}
            RunEvent::Noted(_) | RunEvent::FailureRecorded(_) => effect.events.push(event.clone()),
            // See `tick`.
            RunEvent::Ticked(_) => {}
            RunEvent::OriginOpened(_)
            | RunEvent::MonitorSampled(_)
            | RunEvent::Learnt(_)
            | RunEvent::SampleMissed(_) => {}
        }
        self.emit(&mut effect);
        effect
    }

    /// Takes a second of a part.
    ///
    /// # Errors
    /// Returns an error if it cannot be counted.
    pub fn tick(&mut self, at: usize, tick: &EncodedTick) -> Result<Effect, Refused> {
        let part = &mut self.parts[at];
        match part.addresses {
            0 if !part.has_opened => self.gather.take_encoded(at as u32, tick)?,
            count => {
                let unreadable = Refused::Unreadable { worker: at as u32, tick: tick.number() };
                let mut interval = Interval::decode(&mut tick.interval()).map_err(|_| unreadable)?;
                let from = self.fixed.min(interval.series.len());
                interval.series.drain(from..(from + count).min(interval.series.len()));
                let opened = std::mem::take(&mut part.opened);
                self.gather.take(at as u32, &interval, &opened, false)?;
            }
        }
        let mut effect = Effect::default();
        self.emit(&mut effect);
        Ok(effect)
    }

    /// Does not wait for a part any more.
    pub fn lose(&mut self, at: usize) -> Effect {
        let mut effect = Effect::default();
        self.gather.end(at as u32);
        self.emit(&mut effect);
        effect
    }

    fn emit(&mut self, effect: &mut Effect) {
        effect.events.extend(self.gather.opened().into_iter().map(RunEvent::SeriesOpened));
        while let Some(tick) = self.gather.ready() {
            if let Some(trip) = self.judge(&tick) {
                // Once is enough.
                (self.breaker, self.watch) = (None, None);
                effect.trip.get_or_insert(trip);
            }
            effect.events.push(RunEvent::Ticked(tick));
        }
    }

    fn judge(&mut self, tick: &Tick) -> Option<(Trip, StoppedBy)> {
        let broken = self.breaker.as_mut().and_then(|breaker| breaker.tick(tick));
        let missed = self.watch.as_mut().and_then(|watch| watch.tick(tick));
        // A threshold that the user wrote is more informative than the breaker.
        let missed = missed.map(|trip| (trip, StoppedBy::Threshold));
        missed.or(broken.map(|trip| (trip, StoppedBy::Command)))
    }
}
