//! The run over time: on a page as charts with events; in the terminal, one letter per second or for a few seconds,
//! enough to show a pause, a ramp, or a drift.

use crate::document::{Axis, Block, Cell, Column, Course, On, Role, Section, Table, Tone, more, sentence};
use crate::format::{chosen_s, count, duration_f64_ns, duration_ns, rate_per_s};
use crate::terminal::chart::{Pool, top};
use crate::terminal::live::slow_times;
use crate::words;
use plimsoll_analysis::picture::{Moment, MomentKind, Picture};
use plimsoll_analysis::summary::{Second, Spike, Summary};
use plimsoll_plan::threshold::Subject;

/// A long run has hundreds of stages: those are in the chart.
const MOMENTS: usize = 60;

/// Returns the run on its time axis, with its events.
pub fn section(picture: &Picture) -> Section {
    let charts = ["timeline", "heat", "heat-service"].map(String::from);
    let mut blocks = vec![Block::Charts(charts.into())];
    if !picture.moments.is_empty() {
        blocks.extend([Block::Heading("Events".into()), Block::Table(moments(picture))]);
    }
    blocks.extend(more(picture.moments.len(), MOMENTS).map(|text| sentence(Role::Faint, text)));
    Section::new("course", "Timeline", blocks)
}

fn moments(picture: &Picture) -> Table {
    let kind = |moment: &Moment| match moment.kind {
        MomentKind::Stage => "stage",
        MomentKind::Note => "note",
        MomentKind::Control => "control",
        MomentKind::Change => "change",
        MomentKind::Gap => "gap",
        MomentKind::Spike => "spike",
        MomentKind::Outage => "outage",
    };
    let at = |moment: &Moment| {
        // In tenths: an event is at the start of a second, or at a manual change.
        Cell::number(chosen_s((moment.at_s * 10.0).round() / 10.0), Some(moment.at_s))
    };
    Table::of("events", "Events of the run", picture.moments.iter().take(MOMENTS))
        .column(Column::number("at"), at)
        .column(Column::text("kind"), |moment| Cell::text(kind(moment)))
        .column(Column::text("what"), |moment| Cell::text(&moment.text))
        .done()
}

/// Returns when the run was slow, how slow compared with the baseline, and whether it recovered.
pub fn spikes(s: &Summary) -> Section {
    const SHOWN: usize = 5;
    let one = |spike: &Spike| {
        let (from, slow) = (chosen_s(spike.from_s), chosen_s(spike.slow_s));
        let (peak, baseline) = (duration_ns(spike.peak_p95_ns), duration_ns(spike.baseline_p95_ns));
        let to = chosen_s(spike.from_s + spike.slow_s);
        let text =
            format!("{from} to {to} ({slow}): p95 {peak} (baseline {baseline}), {}", words::back(spike));
        sentence(Role::Plain, text)
    };
    let mut blocks: Vec<Block> = s.spikes.iter().take(SHOWN).map(one).collect();
    blocks.extend(more(s.spikes.len(), SHOWN).map(|text| sentence(Role::Faint, text)));
    let section = Section::new("spikes", "Spikes", blocks).on(On::TERMINAL);
    section.aside("seconds with an unusually high p95").indented()
}

/// Rates are pooled by their mean and share a scale; times and errors are pooled by their maximum, so that a single bad
/// second of an hour is still visible.
pub fn letters(s: &Summary) -> Section {
    // Two points are not a timeline.
    let blocks = if s.timeline.len() < 3 {
        Vec::new()
    } else {
        vec![Block::Courses(courses(s).into_iter().map(|(_, course)| course).collect(), axis(s))]
    };
    let section = Section::new("course", "Timeline", blocks).on(On::TERMINAL);
    section.aside("each row scaled from 0 to its maximum; rates share one scale").indented()
}

/// Returns the slowest requests and the errors over time, and the rates if the offered load was not achieved.
pub fn brief(s: &Summary) -> Option<Block> {
    let end_s = s.timeline.last().map(|t| t.from_s + t.length_s)?;
    // Two points are not a timeline.
    let is_enough = s.timeline.len() >= 3;
    let shows_rates = super::is_missed(s, &[Subject::Achieved, Subject::Throughput]);
    let all = courses(s).into_iter().filter(|(is_rate, _)| shows_rates || !is_rate);
    let mut all: Vec<Course> = all.map(|(_, course)| course).collect();
    if let Some(first) = all.first_mut() {
        first.label = format!("{}, 0–{}", first.label, chosen_s(end_s));
    }
    (is_enough && !all.is_empty()).then_some(Block::Courses(all, None))
}

/// Returns curves, and whether each is a rate.
fn courses(s: &Summary) -> Vec<(bool, Course)> {
    let values = |of: fn(&Second) -> Option<f64>| s.timeline.iter().map(of).collect::<Vec<_>>();
    let offered = s.offered.is_some().then(|| values(|t| t.offered_rate_per_s));
    let achieved = values(|t| Some(t.achieved_rate_per_s));
    // Offered and achieved rates are compared, so they share one scale.
    let top_rate = offered.iter().chain([&achieved]).map(|values| top(values)).fold(0.0, f64::max);
    let rate = |label: &str, tone, values: Vec<Option<f64>>| {
        let scale = format!("max {}", rate_per_s(top(&values)));
        Course { label: label.into(), tone, values, pool: Pool::Mean, top: top_rate, scale }
    };
    let highest = |label: String, tone, values: Vec<Option<f64>>, scale: fn(f64) -> String| {
        let top = top(&values);
        Course {
            label,
            tone: Some(tone),
            values,
            pool: Pool::Highest,
            top,
            scale: format!("max {}", scale(top)),
        }
    };
    let (slow, times) = slow_times(&s.timeline);
    // A run of streams only has no response times.
    let times = times.iter().any(Option::is_some).then_some(times);
    let errors = values(|t| (t.errors > 0).then_some(t.errors as f64));
    let errors = errors.iter().any(Option::is_some).then_some(errors);
    let offered = offered.map(|values| rate("offered", None, values));
    let rates = offered.into_iter().chain([rate("achieved", Some(Tone::Note), achieved)]);
    let times = times.map(|values| highest(slow, Tone::Doubt, values, duration_f64_ns));
    let errors = errors.map(|values| highest("errors".into(), Tone::Fail, values, |n| count(n as u64)));
    rates
        .map(|course| (true, course))
        .chain(times.into_iter().chain(errors).map(|course| (false, course)))
        .collect()
}

/// Start, end of the warm-up, end.
fn axis(s: &Summary) -> Option<Axis> {
    let end_s = s.timeline.last().map(|t| t.from_s + t.length_s)?;
    let is_marked = s.totals.warmup_s > 0.0 && end_s > 0.0;
    let mark = is_marked.then(|| (s.totals.warmup_s / end_s, "end of warm-up"));
    Some(Axis { ends: ["0 s".into(), chosen_s(end_s)], mark })
}
