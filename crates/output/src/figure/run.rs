//! The course of a run, and below it on the same axis that of what was watched.

use super::chart::{Chart, Dot, Form, LINES, Panel, Series};
use super::scale::{Scale, bytes, times};
use plimsoll_plan::watch::WATCH_NS;
use plimsoll_record::analysis::digest::{CPU_NAMES, MEMORY_NAMES};
use plimsoll_record::summary::{Course, Second, Summary};

/// More points than this cannot be seen, and would make the file large.
const POINTS: usize = 240;
/// Points further apart than so many seconds (or so many pooled ones) have a gap between them.
const GAP_S: f64 = 2.5;

/// How seconds become one point.
#[derive(Clone, Copy)]
enum Pool {
    Mean,
    Highest,
}

pub fn figure(s: &Summary) -> Option<String> {
    if s.timeline.len() < 3 {
        return None;
    }
    let end_s = s.timeline.last().map(|t| t.from_s + t.length_s)?;
    // The first and last second may be cut: their middle is where their value belongs.
    let seconds = |of: &dyn Fn(&Second) -> Option<f64>| -> Vec<(f64, f64)> {
        s.timeline.iter().filter_map(|t| Some((t.from_s + t.length_s / 2.0, of(t)?))).collect()
    };
    let line = |name: &str, colour: usize, form: Form, points: Vec<(f64, f64)>, pool: Pool| Series {
        name: name.into(),
        colour,
        form,
        points: pooled(&points, end_s, pool),
    };
    let mut panels = Vec::new();
    let mut rates = Vec::new();
    // An arrival of several requests is not to be held against each of them.
    let (offers, achieves) = match s.counts_iterations() {
        true => ("iterations offered", "requests achieved"),
        false => ("offered", "achieved"),
    };
    if s.offered.is_some() {
        let offered = seconds(&|t| t.offered_rate_per_s);
        rates.push(line(offers, 6, Form::Dashed, offered, Pool::Mean));
    }
    rates.push(line(achieves, 0, Form::Line, seconds(&|t| Some(t.achieved_rate_per_s)), Pool::Mean));
    panels.push(panel(s, "requests per second", rates, 1.0));
    let p50 = seconds(&|t| t.p50_ns.map(|ns| ns as f64));
    let p99 = seconds(&|t| t.p99_ns.map(|ns| ns as f64));
    let shown = times(p99.iter().map(|(_, ns)| *ns).fold(0.0, f64::max));
    let slow =
        vec![line("p50", 0, Form::Line, p50, Pool::Mean), line("p99", 1, Form::Line, p99, Pool::Highest)];
    panels.push(panel(s, &format!("response time, {}", shown.unit), slow, shown.by));
    if s.totals.errors > 0 {
        let errors = line(
            "",
            1,
            Form::Line,
            seconds(&|t| (t.length_s > 0.0).then(|| t.errors as f64 / t.length_s)),
            Pool::Highest,
        );
        panels.push(panel(s, "errors per second", vec![errors], 1.0));
    }
    let mut names: Vec<&str> = Vec::new();
    let is_drawn = |c: &&Course| {
        c.part.is_empty() && CPU_NAMES.iter().chain(&MEMORY_NAMES).any(|name| c.metric == *name)
    };
    for course in s.courses.iter().filter(is_drawn) {
        if !names.contains(&course.monitor.as_str()) {
            names.push(&course.monitor);
        }
    }
    let colour = |course: &Course| names.iter().position(|name| *name == course.monitor).unwrap_or(0);
    let of = |metrics: &[&str]| -> Vec<Series> {
        let mut out = Vec::new();
        for monitor in &names {
            // One line for each monitor: the first of the names that it has, as tables show it.
            let own = || s.courses.iter().filter(|c| c.part.is_empty() && c.monitor == *monitor);
            let found = metrics.iter().find_map(|metric| own().find(|c| c.metric == *metric));
            let Some(course) = found.filter(|_| out.len() < LINES) else { continue };
            // A sample tells of the second before it, as a second of the load does.
            let half_s = WATCH_NS as f64 / 2e9;
            let points = course.points.iter().map(|(at, value)| (at - half_s, *value)).collect();
            out.push(line(&course.monitor, colour(course), Form::Line, points, Pool::Mean));
        }
        out
    };
    let cpu = of(&CPU_NAMES);
    if !cpu.is_empty() {
        panels.push(panel(s, "CPU, cores", cpu, 1.0));
    }
    let memory = of(&MEMORY_NAMES);
    if !memory.is_empty() {
        let shown = bytes(most(&memory));
        panels.push(panel(s, &format!("memory, {}", shown.unit), memory, shown.by));
    }
    let window = s.raw_window.as_ref().map(|w| w.sentence.clone()).unwrap_or_default();
    let chart = Chart {
        title: if s.name.is_empty() { s.target.clone() } else { format!("{}: {}", s.name, s.target) },
        subtitle: window,
        x_label: "time from the start of the run, s".into(),
        x: Scale::between(0.0, end_s, 8),
        panels,
    };
    Some(chart.draw())
}

/// `by`: what values are divided by, as the label says.
fn panel(s: &Summary, label: &str, mut series: Vec<Series>, by: f64) -> Panel {
    for dot in series.iter_mut().flat_map(|one| &mut one.points) {
        dot.y /= by;
    }
    let y = Scale::from_zero(most(&series), 4);
    let warmup_s = s.totals.warmup_s;
    let stretches = if warmup_s > 0.0 { vec![(0.0, warmup_s, "warm-up".to_owned())] } else { Vec::new() };
    Panel { label: label.into(), y, series, stretches, bands: Vec::new() }
}

fn most(series: &[Series]) -> f64 {
    series.iter().flat_map(|one| &one.points).map(|dot| dot.y).fold(0.0, f64::max)
}

/// At most [`POINTS`] points over the whole axis; stretches without a value stay empty.
fn pooled(points: &[(f64, f64)], end_s: f64, pool: Pool) -> Vec<Dot> {
    let width = (end_s / POINTS as f64).max(1e-9);
    let gap_s = GAP_S.max(2.5 * width);
    let is_few = points.len() <= POINTS;
    let mut out: Vec<Dot> = Vec::new();
    let mut last_s = f64::NEG_INFINITY;
    let slot = |(x, _): &(f64, f64)| if is_few { x.to_bits() } else { (x / width) as u64 };
    for group in points.chunk_by(|a, b| slot(a) == slot(b)) {
        let n = group.len() as f64;
        let x = group.iter().map(|(x, _)| x).sum::<f64>() / n;
        let y = match pool {
            Pool::Mean => group.iter().map(|(_, y)| y).sum::<f64>() / n,
            Pool::Highest => group.iter().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max),
        };
        if x.is_finite() && y.is_finite() {
            out.push(Dot { x, y, interval: None, is_joined: x - last_s <= gap_s });
            last_s = x;
        }
    }
    out
}
