//! The view of a running test: a pure function of the events so far. It has no clock: its time is that of the ticks.
//! Its values are those of the report, computed with the same code.

use crate::format::{self, chosen_s, count, counted, quantity, rate_of, rate_per_s, ratio};
use crate::line::{Line, flow};
use crate::style::{Look, TextStyle};
use crate::terminal::chart::{Pool, bar, resample, spark, top};
use crate::words;
use plimsoll_analysis::summary::{Quantile, Second, drawn_quantile};
use plimsoll_analysis::{Standing, TickWindow};
use plimsoll_plan::{Fault, Outline};
use plimsoll_record::event::{Note, Opening, RunEvent, Tick, WorkerTimes};
use std::collections::VecDeque;

/// Maximum number of lines of the view.
pub const LINES: usize = 8;
/// Seconds in the sparkline.
const HISTORY: usize = 60;

/// The state after the events so far. Its memory does not grow with the length of the run.
#[derive(Debug)]
pub struct LiveState {
    outline: Outline,
    /// Everything outside of the warm-up (during the warm-up: the warm-up).
    overall: TickWindow,
    /// Its row of the timeline, and its failures.
    all: Option<Second>,
    failures: Vec<(Fault, u64)>,
    /// Rows of the last seconds, the current one last.
    history: VecDeque<Second>,
    /// The connections and requests that are open.
    open: Standing,
    /// Requests completed since the start, including the warm-up, as `-n` counts them.
    finished: u64,
    opened: u64,
    /// Share of its time that the busiest worker worked, and share of the workers' time spent busy-polling, in the last
    /// tick.
    busiest: f64,
    busy_poll: f64,
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
            overall: TickWindow::default(),
            all: None,
            failures: Vec::new(),
            history: VecDeque::with_capacity(HISTORY),
            open: Standing::default(),
            finished: 0,
            opened: 0,
            busiest: 0.0,
            busy_poll: 0.0,
            elapsed_ns: 0,
            ended: false,
            note: None,
        }
    }

    /// Processes one event.
    pub fn on(&mut self, event: &RunEvent) {
        match event {
            // Failure examples and names are for the report.
            RunEvent::SeriesOpened(_)
            | RunEvent::OriginOpened(_)
            | RunEvent::FailureRecorded(_)
            | RunEvent::MonitorSampled(_)
            | RunEvent::Learnt(_)
            | RunEvent::SampleMissed(_) => {}
            RunEvent::Opened(opening) => *self = LiveState::new(opening),
            RunEvent::Ticked(tick) => self.tick(tick),
            RunEvent::Noted(note) => self.note = Some(note.clone()),
            RunEvent::Ended(_) => self.ended = true,
        }
    }

    fn tick(&mut self, tick: &Tick) {
        let number = tick.interval.tick;
        let warmup = self.outline.is_warmup(number);
        if self.warming_up && !warmup {
            self.overall.clear();
        }
        self.warming_up = warmup;
        let elapsed_ns = end_of(&self.outline, tick);
        let mut last = TickWindow::default();
        last.add(&self.outline, tick, elapsed_ns);
        self.overall.add(&self.outline, tick, elapsed_ns);
        self.all = self.overall.second(&self.outline, &mut Standing::default());
        self.failures = self.overall.failures();
        let (_, to_ns) = self.outline.tick_bounds_ns(number);
        self.elapsed_ns = self.elapsed_ns.max(to_ns.min(elapsed_ns));
        self.busiest = busiest(&tick.pulses);
        let workers = tick.pulses.len().max(1) as f64;
        self.busy_poll = tick.pulses.iter().map(|p| share(p, p.busy_poll_ns)).sum::<f64>() / workers;
        let Some(second) = last.second(&self.outline, &mut self.open) else { return };
        self.finished += second.requests;
        self.opened += second.connections_opened;
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(second);
    }

    /// Returns true once the run has ended and there is nothing more to show.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the view: at most [`LINES`] lines, none wider than `look.width`.
    pub fn lines(&self, look: &Look) -> Vec<Line> {
        let columns = usize::from(look.width);
        let mut lines = vec![self.head(columns), self.progress(columns, look)];
        lines.push(row("rate", self.rate(), columns, look));
        lines.push(row("response", self.response(), columns, look));
        lines.push(row("errors", self.errors(), columns, look));
        lines.push(row("in flight", self.in_flight(), columns, look));
        lines.push(row("generator", self.generator(look), columns, look));
        lines.push(match &self.note {
            Some(note) => row("note", vec![Line::of(TextStyle::Warn, &note.text)], columns, look),
            None => self.sparks(columns, look),
        });
        lines.into_iter().map(|line| line.cut(columns, look)).collect()
    }

    /// Returns the completed share of the run, and the rest: by time or by requests, whichever is further.
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
        let name = Line::of(TextStyle::Strong, &self.outline.name);
        let column = columns.saturating_sub(crate::line::width(&load)).max(name.width() + 2);
        name.pad(column).ink(TextStyle::Dim, &load)
    }

    fn progress(&self, columns: usize, look: &Look) -> Line {
        let (share, left) = self.left();
        let phase = if self.warming_up { "warm-up, " } else { "" };
        // The latest whole second: a tick is one, and a changing decimal would only flicker.
        let text = format!("  {phase}{left}");
        let cells = columns.saturating_sub(crate::line::width(&text)).min(60);
        bar(share, cells, if self.warming_up { TextStyle::Warn } else { TextStyle::Good }, look).text(&text)
    }

    fn rate(&self) -> Vec<Line> {
        let last = self.history.back();
        let achieved = |row: Option<&Second>| rate_per_s(row.map_or(0.0, |row| row.achieved_rate_per_s));
        let now = Line::new().text("achieved ").ink(TextStyle::Strong, &achieved(last));
        let overall = Line::of(TextStyle::Dim, &format!("overall {}", achieved(self.all.as_ref())));
        if self.outline.load.is_open() {
            let offered = last.and_then(|row| row.offered_rate_per_s).unwrap_or(0.0);
            let offered = Line::new().text("offered ").ink(TextStyle::Strong, &rate_per_s(offered));
            vec![offered, now, overall]
        } else {
            vec![now, overall]
        }
    }

    fn response(&self) -> Vec<Line> {
        let figures = |row: Option<&Second>| {
            let q = |q| format::quantile(row.map_or(Quantile::Missing, |row| row.quantile(q)));
            let max = format::quantile(row.map_or(Quantile::Missing, Second::longest));
            [("p50", q(0.5)), ("p99", q(0.99)), ("max", max)]
        };
        let (last, all) = (self.history.back(), self.all.as_ref());
        let mut now = Line::new();
        for (at, (name, value)) in figures(last).iter().enumerate() {
            let between = if at == 0 { "" } else { "  " };
            now = now.text(&format!("{between}{name} ")).ink(TextStyle::Strong, value);
        }
        let overall: Vec<String> =
            figures(all).iter().map(|(name, value)| format!("{name} {value}")).collect();
        let mut facts = vec![now, Line::of(TextStyle::Dim, &format!("overall {}", overall.join("  ")))];
        let is_hidden = |row: &Second| row.quantile(0.99) == Quantile::TooFewSamples;
        if last.is_some_and(is_hidden) || all.is_some_and(is_hidden) {
            facts.push(Line::of(TextStyle::Dim, "-: too few samples"));
        }
        facts
    }

    /// Returns the number of failures by class, with those of the load generator separate.
    fn errors(&self) -> Vec<Line> {
        let failed = self.all.as_ref().map_or(0, |row| row.errors);
        let mut facts =
            vec![Line::of(if failed > 0 { TextStyle::Bad } else { TextStyle::Strong }, &count(failed))];
        for (fault, n) in &self.failures {
            let ours = fault.side() == plimsoll_plan::Side::Client;
            let side = if ours { " (this machine)" } else { "" };
            facts.push(Line::new().text(&format!("{} {}{side}", fault.name(), count(*n))));
        }
        facts
    }

    fn in_flight(&self) -> Vec<Line> {
        let last = self.history.back();
        let mut facts = vec![Line::of(TextStyle::Strong, &quantity(last.map_or(0.0, |row| row.in_flight)))];
        if let Some((row, streams)) = last.and_then(|row| Some((row, row.streams_open?))) {
            let events = row.events.unwrap_or(0) as f64;
            let rate = if row.length_s > 0.0 { events / row.length_s } else { 0.0 };
            let events = rate_of(rate, "events");
            facts.push(Line::new().text(&format!("{} open, {events}", counted(streams, "stream"))));
        }
        let open = last.map_or(0, |row| row.connections_open);
        facts.push(Line::new().text(&format!("{} connections open", count(open))));
        facts.push(Line::of(TextStyle::Dim, &format!("{} opened so far", count(self.opened))));
        facts
    }

    /// Headroom is the idle time of the busiest worker, which lags first. Busy-polling does not count as busy,
    /// because a worker only polls while it has nothing to do.
    fn generator(&self, look: &Look) -> Vec<Line> {
        let headroom = 1.0 - self.busiest;
        let mut facts = vec![
            bar(self.busiest, 8, TextStyle::Accent, look)
                .text(" ")
                .ink(TextStyle::Strong, &ratio(headroom.max(0.0)))
                .text(" headroom"),
            Line::of(TextStyle::Dim, &format!("busy-polling {}", ratio(self.busy_poll))),
        ];
        let late = self.history.back().map_or(Quantile::Missing, Second::schedule_lag_p99);
        if late != Quantile::Missing {
            facts.push(Line::of(TextStyle::Dim, &format!("lag p99 {}", format::quantile(late))));
        }
        facts
    }

    fn sparks(&self, columns: usize, look: &Look) -> Line {
        let rows: Vec<Second> = self.history.iter().cloned().collect();
        let rate: Vec<Option<f64>> = rows.iter().map(|row| Some(row.achieved_rate_per_s)).collect();
        let (name, times) = slow_times(&rows);
        let cells = (columns.saturating_sub(LABEL + 12) / 2).min(HISTORY);
        // One letter per second while they fit; never stretched, so that it moves steadily.
        let draw = |values: &[Option<f64>], pool| {
            let shown = if values.len() > cells { resample(values, cells, pool) } else { values.to_vec() };
            spark(&shown, top(values), look)
        };
        Line::of(TextStyle::Dim, "last 60 s")
            .pad(LABEL)
            .ink(TextStyle::Dim, "rate ")
            .ink(TextStyle::Accent, &draw(&rate, Pool::Mean))
            .ink(TextStyle::Dim, &format!("  {name} "))
            .ink(TextStyle::Warn, &draw(&times, Pool::Highest))
    }
}

const LABEL: usize = 11;

/// Returns a label and as many facts as fit on one line.
fn row(label: &str, facts: Vec<Line>, columns: usize, look: &Look) -> Line {
    let front = Line::of(TextStyle::Dim, label).pad(LABEL);
    let first = flow(facts, columns.saturating_sub(LABEL), look).into_iter().next();
    front.line(first.unwrap_or_default())
}

/// Returns the times to draw, with their name: the highest percentile with enough samples, or the maximum.
pub(crate) fn slow_times(rows: &[Second]) -> (String, Vec<Option<f64>>) {
    let q = drawn_quantile(rows);
    let of = |row: &Second| q.map_or_else(|| row.longest(), |q| row.quantile(q)).value_ns();
    let times = rows.iter().map(|row| of(row).map(|ns| ns as f64)).collect();
    (q.map_or_else(|| "max".into(), crate::format::quantile_name), times)
}

/// Returns when the run apparently ended; `u64::MAX` for a tick of full length. A last tick is shorter, and the
/// workers' clocks know by how much before the ending is reported.
pub(crate) fn end_of(outline: &Outline, tick: &Tick) -> u64 {
    let (from_ns, to_ns) = outline.tick_bounds_ns(tick.interval.tick);
    let wall_ns = tick.pulses.iter().map(|pulse| pulse.wall_ns).max().filter(|wall| *wall > 0);
    let length_ns = to_ns.saturating_sub(from_ns);
    wall_ns.filter(|wall| *wall < length_ns - length_ns / 100).map_or(u64::MAX, |wall| from_ns + wall)
}

/// Returns the share of its time that the busiest worker worked.
pub(crate) fn busiest(pulses: &[WorkerTimes]) -> f64 {
    pulses.iter().map(|pulse| share(pulse, pulse.busy_ns)).fold(0.0, f64::max)
}

fn share(pulse: &WorkerTimes, part_ns: u64) -> f64 {
    if pulse.wall_ns == 0 { 0.0 } else { part_ns as f64 / pulse.wall_ns as f64 }
}
