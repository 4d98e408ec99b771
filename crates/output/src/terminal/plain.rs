//! Where there is no terminal (a pipe, a build server): plain lines, no escape codes, nothing is overwritten. The line
//! of a second says what the report says of it.

use crate::format::{self, chosen_ns, chosen_s, count, quantity, rate_per_s, ratio};
use crate::terminal::live::{busiest, end_of};
use crate::words;
use plimsoll_analysis::summary::{Quantile, Second};
use plimsoll_analysis::{Standing, TickWindow};
use plimsoll_plan::Outline;
use plimsoll_plan::phrase::is_harmful;
use plimsoll_record::event::{Note, RunEvent, Sink, Tick};
use std::io::{self, Write};

/// Runs longer than this get a line every [`LONG_STEP`] ticks, so that a log stays readable.
const LONG_NS: u64 = 120 * 1_000_000_000;
const LONG_STEP: u32 = 10;
/// The rest of a run after its last full second, below which it has no line.
const SHORT_REST_NS: u64 = 50_000_000;

/// A sink that writes one line per tick, or per ten of them in a long run.
pub struct Plain<W: Write> {
    out: W,
    run: Option<Run>,
    failure: Option<io::Error>,
}

struct Run {
    outline: Outline,
    /// Ticks per line.
    step: u32,
    since: u32,
    window: TickWindow,
    open: Standing,
    /// A tick that may be the last one, which only the ending tells the length of.
    held: Option<Tick>,
    busiest: f64,
    warmup: bool,
    /// What a dash means has been said.
    explained: bool,
}

impl<W: Write> Plain<W> {
    pub fn new(out: W) -> Plain<W> {
        Plain { out, run: None, failure: None }
    }

    /// Why it stopped writing.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// The writer, to look at what was written.
    pub fn writer(&self) -> &W {
        &self.out
    }

    fn say(&mut self, line: &str) {
        if self.failure.is_none()
            && let Err(error) = writeln!(self.out, "{line}").and_then(|()| self.out.flush())
        {
            self.failure = Some(error);
        }
    }
}

impl<W: Write> Sink for Plain<W> {
    fn event(&mut self, event: &RunEvent) {
        let lines = match (event, &mut self.run) {
            (RunEvent::Opened(opening), _) => {
                let outline = &opening.outline;
                let line = format!("{}: {}", outline.name, words::load(outline));
                self.run = Some(Run::new(outline));
                vec![line]
            }
            (RunEvent::Ticked(tick), Some(run)) => run.tick(tick),
            (RunEvent::Ended(ending), Some(run)) => run.end(ending.elapsed_ns),
            (RunEvent::Noted(note), _) => vec![note_line(note)],
            // Samples and names are for the report.
            (
                RunEvent::SeriesOpened(_)
                | RunEvent::OriginOpened(_)
                | RunEvent::FailureRecorded(_)
                | RunEvent::MonitorSampled(_)
                | RunEvent::Learnt(_)
                | RunEvent::SampleMissed(_),
                _,
            )
            | (_, None) => Vec::new(),
        };
        for line in lines {
            // Names come from the user: one event stays one line.
            let clean: Vec<String> = line.lines().map(|l| l.replace(is_harmful, "?")).collect();
            self.say(&clean.join(" "));
        }
    }
}

fn note_line(note: &Note) -> String {
    format!("{:>8}  {}", chosen_ns(note.at_ns), note.text)
}

impl Run {
    fn new(outline: &Outline) -> Run {
        let long = outline.stop.duration_ns.is_none_or(|d| d > LONG_NS);
        Run {
            step: if long { LONG_STEP } else { 1 },
            outline: outline.clone(),
            since: 0,
            window: TickWindow::default(),
            open: Standing::default(),
            held: None,
            busiest: 0.0,
            warmup: false,
            explained: false,
        }
    }

    fn tick(&mut self, tick: &Tick) -> Vec<String> {
        // Another one follows: what was held was of full length.
        let mut lines = self.end_of_held(u64::MAX);
        let (_, to_ns) = self.outline.tick_bounds_ns(tick.interval.tick);
        let is_last = self.outline.stop.duration_ns.is_some_and(|stop_ns| to_ns >= stop_ns);
        if is_last || end_of(&self.outline, tick) < to_ns {
            self.held = Some(tick.clone());
        } else {
            lines.extend(self.take(tick, u64::MAX));
        }
        lines
    }

    /// The run ended at `elapsed_ns`.
    fn end(&mut self, elapsed_ns: u64) -> Vec<String> {
        // A line of a few ms would have the same time as the line above it, and rates of nothing.
        self.held.take_if(|tick| {
            let (from_ns, _) = self.outline.tick_bounds_ns(tick.interval.tick);
            from_ns > 0 && elapsed_ns.saturating_sub(from_ns) < SHORT_REST_NS
        });
        let mut lines = self.end_of_held(elapsed_ns);
        lines.extend(self.flush());
        lines
    }

    fn end_of_held(&mut self, elapsed_ns: u64) -> Vec<String> {
        self.held.take().map_or_else(Vec::new, |tick| self.take(&tick, elapsed_ns))
    }

    fn take(&mut self, tick: &Tick, elapsed_ns: u64) -> Vec<String> {
        let number = tick.interval.tick;
        self.window.add(&self.outline, tick, elapsed_ns);
        self.busiest = busiest(&tick.pulses);
        self.warmup = self.outline.is_warmup(number);
        self.since += 1;
        // The warm-up and what is measured never share a line.
        let ends_warmup = self.warmup && !self.outline.is_warmup(number + 1);
        if self.since >= self.step || ends_warmup { self.flush() } else { Vec::new() }
    }

    /// The line of what has come since the last one; below the first that hides a percentile, why.
    fn flush(&mut self) -> Vec<String> {
        let Some(row) = self.window.second(&self.outline, &mut self.open) else { return Vec::new() };
        let mut lines = vec![self.line(&row)];
        let is_hidden = [0.5, 0.99].iter().any(|q| row.quantile(*q) == Quantile::TooFewSamples);
        if is_hidden && !self.explained {
            self.explained = true;
            lines.push(format!("{:>8}  {}", "", words::DASH));
        }
        self.window.clear();
        self.since = 0;
        lines
    }

    fn line(&self, row: &Second) -> String {
        let mut facts = Vec::new();
        if let Some(offered) = row.offered_rate_per_s {
            facts.push(format!("offered {}", rate_per_s(offered)));
        }
        facts.push(format!("achieved {}", rate_per_s(row.achieved_rate_per_s)));
        facts.push(format!("p50 {}", format::quantile(row.quantile(0.5))));
        facts.push(format!("p99 {}", format::quantile(row.quantile(0.99))));
        facts.push(format!("max {}", format::quantile(row.longest())));
        facts.push(format!("errors {}", count(row.errors)));
        let failures = self.window.failures();
        facts.extend(failures.iter().map(|(fault, n)| format!("{} {}", fault.name(), count(*n))));
        if let Some(events) = row.events {
            let per_s = if row.length_s > 0.0 { events as f64 / row.length_s } else { 0.0 };
            facts.push(format!("events {}", rate_per_s(per_s)));
        }
        facts.push(format!("in flight {}", quantity(row.in_flight)));
        facts.push(format!("busy {}", ratio(self.busiest)));
        if self.warmup {
            facts.push("warm-up".into());
        }
        format!("{:>8}  {}", chosen_s(row.from_s + row.length_s), facts.join("  "))
    }
}
