//! Where there is no terminal (a pipe, a build server): plain lines, no escape codes, nothing is overwritten.

use crate::format::{chosen_ns, count, maybe_ns, quantity, rate_per_s, ratio};
use crate::line::is_harmful;
use crate::terminal::live::Window;
use plimsoll_plan::Outline;
use plimsoll_record::event::{Note, RunEvent, Sink, Tick};
use std::io::{self, Write};

/// Runs longer than this get a line every [`LONG_STEP`] ticks, so that a log stays readable.
const LONG_NS: u64 = 120 * 1_000_000_000;
const LONG_STEP: u32 = 10;

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
    window: Window,
    elapsed_ns: u64,
    warmup: bool,
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
        let line = match (event, &mut self.run) {
            (RunEvent::Opened(opening), _) => {
                let outline = &opening.outline;
                let line = format!("{}: {}", outline.name, crate::words::load(outline));
                self.run = Some(Run::new(outline));
                Some(line)
            }
            (RunEvent::Ticked(tick), Some(run)) => run.tick(tick),
            (RunEvent::Ended(_), Some(run)) => run.flush(),
            (RunEvent::Noted(note), _) => Some(note_line(note)),
            // Samples are for the report.
            (RunEvent::Sampled(_) | RunEvent::Sighted(_) | RunEvent::Learnt(_) | RunEvent::Lapsed(_), _)
            | (_, None) => None,
        };
        if let Some(line) = line {
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
            window: Window::new(),
            elapsed_ns: 0,
            warmup: false,
        }
    }

    fn tick(&mut self, tick: &Tick) -> Option<String> {
        let number = tick.interval.tick;
        let before_ns = self.window.length_ns;
        self.window.add(&self.outline, tick);
        let (from_ns, _) = self.outline.tick_bounds_ns(number);
        self.elapsed_ns = from_ns + (self.window.length_ns - before_ns);
        self.warmup = self.outline.is_warmup(number);
        self.since += 1;
        // The warm-up and what is measured never share a line.
        let ends_warmup = self.warmup && !self.outline.is_warmup(number + 1);
        if self.since >= self.step || ends_warmup { self.flush() } else { None }
    }

    fn flush(&mut self) -> Option<String> {
        if self.since == 0 {
            return None;
        }
        let w = &self.window;
        let mut facts = Vec::new();
        if self.outline.load.is_open() {
            facts.push(format!("offered {}", rate_per_s(w.offered_per_s())));
        }
        facts.push(format!("achieved {}", rate_per_s(w.achieved_per_s())));
        let q = |q| maybe_ns(w.response.quantile(q));
        facts.push(format!("p50 {}", q(0.5)));
        facts.push(format!("p99 {}", q(0.99)));
        facts.push(format!("errors {}", count(w.failed)));
        facts.extend(w.faults().iter().map(|(fault, n)| format!("{} {}", fault.name(), count(*n))));
        if self.outline.requests.iter().any(|request| request.stream && !request.aside) {
            facts.push(format!("events {}", rate_per_s(w.events_per_s())));
        }
        facts.push(format!("in flight {}", quantity(w.in_flight())));
        facts.push(format!("busy {}", ratio(w.busiest)));
        if self.warmup {
            facts.push("warm-up".into());
        }
        let line = format!("{:>8}  {}", chosen_ns(self.elapsed_ns), facts.join("  "));
        self.window.clear();
        self.since = 0;
        Some(line)
    }
}
