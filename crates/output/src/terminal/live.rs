//! The view while a run is on: a pure function of the events so far. No clock: its time is the tick's.

mod window;

use crate::format::{chosen_s, count, counted, maybe_ns, quantity, rate_of, rate_per_s, ratio};
use crate::line::{Line, flow};
use crate::style::{Ink, Look};
use crate::terminal::chart::{Pool, bar, resample, spark, top};
use crate::words;
use plimsoll_plan::Outline;
use plimsoll_record::event::{Note, Opening, RunEvent};
use std::collections::VecDeque;
pub use window::Window;

/// Most lines of the view.
pub const LINES: usize = 8;
/// Seconds in the sparkline.
const HISTORY: usize = 60;

/// What the events said so far. Memory does not grow with the length of the run.
#[derive(Debug)]
pub struct LiveState {
    outline: Outline,
    /// Everything outside the warm-up (during it: the warm-up).
    overall: Window,
    last: Window,
    /// Achieved rate and p99 of the last seconds.
    history: VecDeque<(f64, Option<f64>)>,
    /// Requests finished since the start, warm-up included: what `-n` counts.
    finished: u64,
    opened: u64,
    closed: u64,
    /// Streams that are open.
    streams: u64,
    elapsed_ns: u64,
    warming_up: bool,
    ended: bool,
    note: Option<Note>,
}

impl LiveState {
    pub fn new(opening: &Opening) -> LiveState {
        let outline = opening.outline.clone();
        LiveState {
            warming_up: outline.is_warmup(0),
            outline,
            overall: Window::new(),
            last: Window::new(),
            history: VecDeque::with_capacity(HISTORY),
            finished: 0,
            opened: 0,
            closed: 0,
            streams: 0,
            elapsed_ns: 0,
            ended: false,
            note: None,
        }
    }

    /// Takes in one event.
    pub fn on(&mut self, event: &RunEvent) {
        match event {
            // Samples are for the report.
            RunEvent::Sampled(_) | RunEvent::Sighted(_) | RunEvent::Learnt(_) | RunEvent::Lapsed(_) => {}
            RunEvent::Opened(opening) => *self = LiveState::new(opening),
            RunEvent::Ticked(tick) => {
                let number = tick.interval.tick;
                let warmup = self.outline.is_warmup(number);
                if self.warming_up && !warmup {
                    self.overall.clear();
                }
                self.warming_up = warmup;
                self.last.clear();
                self.last.add(&self.outline, tick);
                self.overall.add(&self.outline, tick);
                self.finished += self.last.finished;
                self.opened += self.last.opened;
                self.closed += self.last.closed;
                self.streams =
                    (self.streams + self.last.streams_opened).saturating_sub(self.last.streams_ended);
                let (from_ns, to_ns) = self.outline.tick_bounds_ns(number);
                self.elapsed_ns = self.elapsed_ns.max(to_ns.min(from_ns + self.last.length_ns));
                if self.history.len() == HISTORY {
                    self.history.pop_front();
                }
                let p99 = self.last.response.quantile(0.99).map(|ns| ns as f64);
                self.history.push_back((self.last.achieved_per_s(), p99));
            }
            RunEvent::Noted(note) => self.note = Some(note.clone()),
            RunEvent::Ended(_) => self.ended = true,
        }
    }

    /// True once the run has ended: there is nothing more to show.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The view: at most [`LINES`] lines, none wider than `look.width`.
    pub fn lines(&self, look: &Look) -> Vec<Line> {
        let columns = usize::from(look.width);
        let mut lines = vec![self.head(columns), self.progress(columns, look)];
        lines.push(row("rate", self.rate(), columns, look));
        lines.push(row("response", self.response(), columns, look));
        lines.push(row("errors", errors(&self.overall), columns, look));
        lines.push(row("in flight", self.in_flight(), columns, look));
        lines.push(row("generator", self.generator(look), columns, look));
        lines.push(match &self.note {
            Some(note) => row("note", vec![Line::of(Ink::Warn, &note.text)], columns, look),
            None => self.sparks(columns, look),
        });
        lines.into_iter().map(|line| line.cut(columns, look)).collect()
    }

    /// Share of the run that is over, and what is left of it. By time or by requests, whichever is further.
    fn left(&self) -> (f64, String) {
        let elapsed = self.elapsed_ns;
        let stop = &self.outline.stop;
        let by_time = stop.duration_ns.filter(|d| *d > 0).map(|d| elapsed as f64 / d as f64);
        let by_count = stop.requests.filter(|n| *n > 0).map(|n| self.finished as f64 / n as f64);
        let time_left = || {
            let left_ns = stop.duration_ns.unwrap_or(0).saturating_sub(elapsed);
            format!("{} left", chosen_s((left_ns as f64 / 1e9).round()))
        };
        let count_left =
            || format!("{} requests left", count(stop.requests.unwrap_or(0).saturating_sub(self.finished)));
        match (by_time, by_count) {
            (Some(t), Some(n)) if n > t => (n, count_left()),
            (Some(t), _) => (t, time_left()),
            (None, Some(n)) => (n, count_left()),
            (None, None) => (0.0, "until Ctrl-C".into()),
        }
    }

    fn head(&self, columns: usize) -> Line {
        let load = words::load(&self.outline);
        let name = Line::of(Ink::Strong, &self.outline.name);
        let column = columns.saturating_sub(crate::line::width(&load)).max(name.width() + 2);
        name.pad(column).ink(Ink::Dim, &load)
    }

    fn progress(&self, columns: usize, look: &Look) -> Line {
        let (share, left) = self.left();
        let phase = if self.warming_up { "warm-up, " } else { "" };
        // The latest whole second: a tick is one, and a flickering decimal says nothing.
        let text = format!("  {phase}{left}");
        let cells = columns.saturating_sub(crate::line::width(&text)).min(60);
        bar(share, cells, if self.warming_up { Ink::Warn } else { Ink::Good }, look).text(&text)
    }

    fn rate(&self) -> Vec<Line> {
        let achieved =
            Line::new().text("achieved ").ink(Ink::Strong, &rate_per_s(self.last.achieved_per_s()));
        let overall = Line::of(Ink::Dim, &format!("overall {}", rate_per_s(self.overall.achieved_per_s())));
        if self.outline.load.is_open() {
            let offered =
                Line::new().text("offered ").ink(Ink::Strong, &rate_per_s(self.last.offered_per_s()));
            vec![offered, achieved, overall]
        } else {
            vec![achieved, overall]
        }
    }

    fn response(&self) -> Vec<Line> {
        let figures = |w: &Window| {
            let q = |q| maybe_ns(w.response.quantile(q));
            (q(0.5), q(0.99))
        };
        let (p50, p99) = figures(&self.last);
        let last = Line::new().text("p50 ").ink(Ink::Strong, &p50).text("  p99 ").ink(Ink::Strong, &p99);
        let (p50, p99) = figures(&self.overall);
        let max = maybe_ns(self.overall.response.max());
        vec![last, Line::of(Ink::Dim, &format!("overall p50 {p50}  p99 {p99}  max {max}"))]
    }

    fn in_flight(&self) -> Vec<Line> {
        let mut facts = vec![Line::of(Ink::Strong, &quantity(self.last.in_flight()))];
        if self.outline.requests.iter().any(|request| request.stream && !request.aside) {
            let events = rate_of(self.last.events_per_s(), "events");
            facts.push(Line::new().text(&format!("{} open, {events}", counted(self.streams, "stream"))));
        }
        let open = self.opened.saturating_sub(self.closed);
        facts.push(Line::new().text(&format!("{} connections open", count(open))));
        facts.push(Line::of(Ink::Dim, &format!("{} opened so far", count(self.opened))));
        facts
    }

    /// Headroom is what the busiest worker has left: it is the first to fall behind. Spinning is not counted as busy,
    /// because a worker spins only while it has nothing to do.
    fn generator(&self, look: &Look) -> Vec<Line> {
        let headroom = 1.0 - self.last.busiest;
        let mut facts = vec![
            bar(self.last.busiest, 8, Ink::Accent, look)
                .text(" ")
                .ink(Ink::Strong, &ratio(headroom.max(0.0)))
                .text(" headroom"),
            Line::of(Ink::Dim, &format!("spinning {}", ratio(self.last.spin))),
        ];
        if let Some(late) = self.last.lateness.quantile(0.99) {
            facts.push(Line::of(Ink::Dim, &format!("late p99 {}", crate::format::duration_ns(late))));
        }
        facts
    }

    fn sparks(&self, columns: usize, look: &Look) -> Line {
        let rate: Vec<Option<f64>> = self.history.iter().map(|(rate, _)| Some(*rate)).collect();
        let p99: Vec<Option<f64>> = self.history.iter().map(|(_, p99)| *p99).collect();
        let cells = (columns.saturating_sub(LABEL + 12) / 2).min(HISTORY);
        // One letter a second while they fit; never stretched, so that it moves steadily.
        let draw = |values: &[Option<f64>], pool| {
            let shown = if values.len() > cells { resample(values, cells, pool) } else { values.to_vec() };
            spark(&shown, top(values), look)
        };
        Line::of(Ink::Dim, "last 60 s")
            .pad(LABEL)
            .ink(Ink::Dim, "rate ")
            .ink(Ink::Accent, &draw(&rate, Pool::Mean))
            .ink(Ink::Dim, "  p99 ")
            .ink(Ink::Warn, &draw(&p99, Pool::Highest))
    }
}

const LABEL: usize = 11;

/// A label and as many facts as fit on one line.
fn row(label: &str, facts: Vec<Line>, columns: usize, look: &Look) -> Line {
    let front = Line::of(Ink::Dim, label).pad(LABEL);
    let first = flow(facts, columns.saturating_sub(LABEL), look).into_iter().next();
    front.line(first.unwrap_or_default())
}

/// How many failed, by class, those of the load generator's own machine apart.
fn errors(window: &Window) -> Vec<Line> {
    let ink = if window.failed > 0 { Ink::Bad } else { Ink::Strong };
    let mut facts = vec![Line::of(ink, &count(window.failed))];
    for (fault, n) in window.faults() {
        let ours = fault.side() == plimsoll_plan::Side::Client;
        let side = if ours { " (this machine)" } else { "" };
        facts.push(Line::new().text(&format!("{} {}{side}", fault.name(), count(n))));
    }
    facts
}
