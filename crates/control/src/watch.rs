//! Monitors the thresholds with `abort after` during the run, and reports when one has been missed for long enough.
//! It uses the same code as the report on the same ticks, so the report shows what stopped the run.

use crate::breaker::Trip;
use plimsoll_analysis::{Reading, Sliding, reading_within, width_of};
use plimsoll_plan::Outline;
use plimsoll_plan::phrase::{chosen_ns, figure};
use plimsoll_plan::threshold::{Kind, Threshold};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_record::event::Tick;
use plimsoll_record::gauge::Gauge;

/// Evaluates the ticks of one run.
pub struct Watch {
    outline: Outline,
    guards: Vec<Guard>,
}

/// One threshold that may stop the run.
struct Guard {
    threshold: Threshold,
    after_ns: u64,
    /// Sliding window; `None` means the run so far.
    window: Option<Sliding>,
    so_far: Gauge,
    so_far_ns: u64,
    /// Start of the current miss, measured from the start of the run, ns.
    since_ns: Option<u64>,
}

impl Watch {
    /// Returns a watch if the plan has such thresholds.
    pub fn new(outline: &Outline) -> Option<Self> {
        let guard = |threshold: &Threshold| {
            Some(Guard {
                after_ns: threshold.abort_after_ns?,
                window: threshold.over_ns.map(|over_ns| Sliding::new(width_of(over_ns))),
                threshold: threshold.clone(),
                so_far: Gauge::default(),
                so_far_ns: 0,
                since_ns: None,
            })
        };
        let guards: Vec<Guard> = outline.thresholds.iter().filter_map(guard).collect();
        (!guards.is_empty()).then(|| Self { outline: outline.clone(), guards })
    }

    /// Takes the next tick in order and returns a trip when a threshold has been missed for long enough. Ignores the
    /// warm-up.
    pub fn tick(&mut self, tick: &Tick) -> Option<Trip> {
        let number = tick.interval.tick;
        if self.outline.is_warmup(number) {
            return None;
        }
        let (from_ns, to_ns) = self.outline.tick_bounds_ns(number);
        // Prefers the workers' own clocks, because a tick may have been cut short.
        let wall_ns = tick.pulses.iter().map(|pulse| pulse.wall_ns).max().filter(|wall_ns| *wall_ns > 0);
        let to_ns = wall_ns.map_or(to_ns, |wall_ns| to_ns.min(from_ns + wall_ns));
        let outline = &self.outline;
        let mut tripped = None;
        // Every guard takes the tick, even after one trips.
        for guard in &mut self.guards {
            let trip = guard.tick(
                Gauge::of(&guard.threshold, outline, &tick.opened, &tick.interval),
                from_ns,
                to_ns,
            );
            tripped = tripped.or(trip);
        }
        tripped
    }
}

impl Guard {
    fn tick(&mut self, gauge: Gauge, from_ns: u64, to_ns: u64) -> Option<Trip> {
        let length_ns = to_ns - from_ns;
        let (sum, sum_ns) = match &mut self.window {
            Some(window) => {
                window.push(gauge, length_ns);
                if !window.is_full() {
                    return None;
                }
                window.sum()
            }
            None => {
                self.so_far.merge(&gauge);
                self.so_far_ns += length_ns;
                (self.so_far.clone(), self.so_far_ns)
            }
        };
        let reading = reading_within(&self.threshold, &sum, sum_ns);
        match reading.meets(&self.threshold) {
            Some(true) => self.since_ns = None,
            Some(false) => {
                self.since_ns.get_or_insert(from_ns);
            }
            // Without samples, neither a miss nor a recovery is proven.
            None => {}
        }
        let since_ns = self.since_ns?;
        (to_ns - since_ns >= self.after_ns)
            .then(|| Trip { at_ns: to_ns, sentence: self.sentence(&reading, since_ns) })
    }

    fn sentence(&self, reading: &Reading, since_ns: u64) -> String {
        let value = match reading.value {
            Some(value) => figure(value, reading.unit),
            None => "no sample".into(),
        };
        let at_least = if reading.at_least { "at least " } else { "" };
        let of = match (self.threshold.over_ns, self.threshold.subject.kind()) {
            (Some(over_ns), _) => format!("in the last {}", chosen_ns(over_ns)),
            (None, Kind::Count) => "so far".into(),
            (None, _) => "of the run so far".into(),
        };
        format!(
            "stopped by the threshold `{}`: missed since {} s, {} {at_least}{value} {of}",
            self.threshold.text,
            since_ns / SECOND_NS,
            self.threshold.left()
        )
    }
}
