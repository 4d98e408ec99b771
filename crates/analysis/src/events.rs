//! The moments of a run that a reader should know: planned changes, notes, actions of plimsoll, and changes of the
//! course.

use super::facts::{Facts, Machine};
use super::gaps::RecordGap;
use super::outage_words::{nothing_of, until};
use super::spikes::paused;
use super::timeline::Moment;
use crate::summary::{Availability, EventKind, EventRow, Outage, Spike};
use plimsoll_plan::load::{Load, Profile};
use plimsoll_plan::phrase::{chosen_ns, duration_f64_ns, duration_ns, quantity, rate_per_s};
use plimsoll_record::event::NoteKind;
use plimsoll_record::steered::Steered;
use plimsoll_stats::maths::changepoint::{Change, changes};

/// A profile of more stages is a recording, and its stages are seconds.
const STAGES_MOST: usize = 40;
/// A smaller change is not worth acting on.
const CHANGE_LEAST: f64 = 0.05;
/// Fewer seconds have no levels to compare.
const SECONDS_LEAST: usize = 30;
/// Shorter levels come and go by chance.
const LEVEL_LEAST: usize = 10;
/// More values are averaged in groups before: finding no change takes the square of their number.
const VALUES_MOST: usize = 1_200;
/// Changes of one figure: more of them are a course that wanders, and the chart says that better.
const CHANGES_MOST: usize = 8;
/// The same note of two machines.
const SAME_S: f64 = 2.0;

/// All of them, in the order of time.
pub(super) fn events(
    facts: &Facts,
    moments: &[Moment],
    spikes: &[Spike],
    holes: &[RecordGap],
    available: &Availability,
) -> Vec<EventRow> {
    let mut events = stages(facts);
    events.extend(notes(facts));
    events.extend(holes.iter().map(|hole| EventRow {
        at_s: hole.gap.from_s,
        kind: EventKind::Gap,
        text: format!("{}: {}", span(hole.gap.from_s, hole.gap.to_s), hole.gap.reason),
    }));
    events.extend(spikes.iter().map(spike));
    events.extend(available.outages.iter().map(|outage| row_of(outage, "no request succeeded".into())));
    for part in &available.parts {
        events.extend(part.outages.iter().map(|outage| row_of(outage, nothing_of(part))));
    }
    events.extend(course(facts, moments, spikes, holes));
    events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s).then(a.kind.cmp(&b.kind)));
    events
}

fn notes(facts: &Facts) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::new();
    for note in facts.machines.iter().flat_map(|m: &Machine| &m.origin.notes) {
        let kind = match note.kind {
            // The gap itself is reported.
            NoteKind::Gap => continue,
            NoteKind::Control | NoteKind::Steered(_) => EventKind::Control,
            NoteKind::Note => EventKind::Note,
        };
        let row = EventRow { at_s: note.at_ns as f64 / 1e9, kind, text: note.text.clone() };
        let is_known = |one: &EventRow| {
            (one.kind, &one.text) == (kind, &row.text) && (one.at_s - row.at_s).abs() < SAME_S
        };
        if facts.machines.len() == 1 || !rows.iter().any(is_known) {
            rows.push(row);
        }
    }
    rows
}

fn span(from_s: f64, to_s: f64) -> String {
    let [from, to] = [from_s, to_s].map(|s| match (s.max(0.0) * 1e9) as u64 {
        0 => "0 s".into(),
        ns => chosen_ns(ns),
    });
    format!("{from} to {to}")
}

fn spike(spike: &Spike) -> EventRow {
    let slow = chosen_ns((spike.slow_s * 1e9) as u64);
    let back = match spike.recovered_after_s {
        Some(s) if s <= 0.0 => "recovered when the load fell".into(),
        Some(s) => format!("recovered after {}", duration_f64_ns(s * 1e9)),
        None => "not recovered by the end".into(),
    };
    EventRow {
        at_s: spike.from_s,
        kind: EventKind::Spike,
        text: format!(
            "slow for {slow}: p95 up to {} (baseline {}), {back}",
            duration_ns(spike.peak_p95_ns),
            duration_ns(spike.baseline_p95_ns)
        ),
    }
}

fn row_of(outage: &Outage, what: String) -> EventRow {
    EventRow { at_s: outage.from_s, kind: EventKind::Outage, text: format!("{what} {}", until(outage)) }
}

/// One level of the load, in words.
fn level(facts: &Facts, level: f64) -> String {
    match facts.plan.load {
        Load::Open { .. } => format!("{} arrivals/s", quantity(level)),
        Load::Closed { .. } if level == 1.0 => "1 user".into(),
        Load::Closed { .. } => format!("{} users", quantity(level)),
    }
}

/// Points where the profile bends or jumps, after its start and before its end.
fn stages(facts: &Facts) -> Vec<EventRow> {
    let profile = facts.plan.load.profile();
    let until_ns = facts.machines.iter().map(|m| m.elapsed_ns).max().unwrap_or(0);
    let legs = legs(profile);
    if legs.len() > STAGES_MOST {
        return Vec::new();
    }
    let before = |at: usize| legs.get(at.wrapping_sub(1)).map(|leg| (leg.to, leg.slope()));
    let mut rows = Vec::new();
    for (at, leg) in legs.iter().enumerate().skip(1).filter(|(_, leg)| leg.from_ns < until_ns) {
        // Two legs of one line are one.
        if before(at) == Some((leg.from, leg.slope())) {
            continue;
        }
        let text = match leg.length_ns {
            Some(length_ns) if leg.from != leg.to => {
                format!(
                    "from {} to {} within {}",
                    quantity(leg.from),
                    level(facts, leg.to),
                    chosen_ns(length_ns)
                )
            }
            _ => level(facts, leg.from),
        };
        rows.push(EventRow { at_s: leg.from_ns as f64 / 1e9, kind: EventKind::Stage, text });
    }
    rows
}

/// A straight part of a profile.
struct Leg {
    from_ns: u64,
    /// `None`: to the end of the run.
    length_ns: Option<u64>,
    from: f64,
    to: f64,
}

impl Leg {
    fn slope(&self) -> f64 {
        self.length_ns.map_or(0.0, |ns| (self.to - self.from) / ns as f64)
    }
}

/// Without the jumps between them.
fn legs(profile: &Profile) -> Vec<Leg> {
    let (mut at_ns, mut now, mut legs) = (0u64, profile.start, Vec::new());
    for stage in &profile.stages {
        if stage.duration_ns > 0 {
            legs.push(Leg { from_ns: at_ns, length_ns: Some(stage.duration_ns), from: now, to: stage.to });
        }
        (at_ns, now) = (at_ns.saturating_add(stage.duration_ns), stage.to);
    }
    legs.push(Leg { from_ns: at_ns, length_ns: None, from: now, to: now });
    legs
}

/// Changes of level of the rate and of the seconds' p99, where the load itself stays on its level.
fn course(facts: &Facts, moments: &[Moment], spikes: &[Spike], holes: &[RecordGap]) -> Vec<EventRow> {
    let legs = legs(facts.plan.load.profile());
    let is_ramp = |at_s: f64| {
        let is_it = |leg: &&Leg| {
            let to_s = leg.length_ns.map_or(f64::INFINITY, |ns| leg.from_ns.saturating_add(ns) as f64 / 1e9);
            leg.from != leg.to && at_s >= leg.from_ns as f64 / 1e9 && at_s < to_s
        };
        legs.len() <= STAGES_MOST && legs.iter().find(is_it).is_some()
    };
    let is_spike = |at_s: f64| {
        let end_s = |s: &Spike| s.from_s + s.recovered_after_s.unwrap_or(s.slow_s).max(s.slow_s);
        spikes.iter().any(|s| at_s >= s.from_s.floor() && at_s < end_s(s) && s.slow_s <= SAME_S * 10.0)
    };
    // A manual pause explains the lack of responses and the lower rate in the rest of its seconds.
    let pauses = paused(facts);
    let is_paused = |m: &Moment| {
        let (from_s, to_s) = (m.second.from_s, m.second.from_s + m.second.length_s);
        pauses.iter().any(|(since_s, until_s)| from_s < *until_s && to_s > *since_s)
    };
    // Of two machines one was not heard: what is known of such a second is a part of what the service did.
    let is_part = |m: &Moment| {
        let (from_s, to_s) = (m.second.from_s, m.second.from_s + m.second.length_s);
        holes.iter().any(|hole| from_s < hole.gap.to_s && to_s > hole.gap.from_s)
    };
    let level: Vec<&Moment> = moments
        .iter()
        .filter(|m| !m.second.is_warmup && m.second.length_s > 0.5)
        .filter(|m| !is_paused(m) && !is_part(m))
        .filter(|m| !is_ramp(m.second.from_s) && !is_spike(m.second.from_s))
        .collect();
    // The load changed by plan or manually at that time, so a change of the rate is expected.
    let near_s = SAME_S.max(2.0 * level.len().div_ceil(VALUES_MOST) as f64);
    let notes = facts.machines.iter().flat_map(|m| &m.origin.notes);
    let by_hand = notes.filter(|note| Steered::of(note).is_some()).map(|note| note.at_ns);
    let edges_s = holes.iter().flat_map(|hole| [hole.gap.from_s, hole.gap.to_s]);
    let chosen_s: Vec<f64> =
        legs.iter().map(|leg| leg.from_ns).chain(by_hand).map(|ns| ns as f64 / 1e9).chain(edges_s).collect();
    let is_chosen = |at_s: f64| chosen_s.iter().any(|chosen_s| (chosen_s - at_s).abs() <= near_s);
    let rate = found(&level, |m| Some(m.second.achieved_rate_per_s));
    let p99 = found(&level, |m| m.second.p99_ns.map(|ns| ns as f64));
    let rate = rate.into_iter().filter(|(at_s, _)| !is_chosen(*at_s)).map(|(at_s, change)| {
        let [before, after] = [change.before, change.after].map(rate_per_s);
        (at_s, format!("throughput changed from {before} to {after}"))
    });
    let p99 = p99.into_iter().map(|(at_s, change)| {
        let [before, after] = [change.before, change.after].map(duration_f64_ns);
        (at_s, format!("p99 per second changed from {before} to {after}"))
    });
    rate.chain(p99).map(|(at_s, text)| EventRow { at_s, kind: EventKind::Change, text }).collect()
}

/// The largest changes of a figure, in the order of time.
fn found(level: &[&Moment], figure: impl Fn(&Moment) -> Option<f64>) -> Vec<(f64, Change)> {
    let known: Vec<(f64, f64)> = level.iter().filter_map(|m| Some((m.second.from_s, figure(m)?))).collect();
    if known.len() < SECONDS_LEAST {
        return Vec::new();
    }
    let groups: Vec<&[(f64, f64)]> = known.chunks(known.len().div_ceil(VALUES_MOST)).collect();
    let means: Vec<f64> = groups
        .iter()
        .map(|group| group.iter().map(|(_, value)| value).sum::<f64>() / group.len() as f64)
        .collect();
    let size =
        |change: &Change| (change.after - change.before).abs() / change.before.abs().max(f64::MIN_POSITIVE);
    let mut found = changes(&means);
    let edges: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|change| change.at)).chain([means.len()]).collect();
    let mut lasting = edges.windows(3).map(|e| e[1] - e[0] >= LEVEL_LEAST && e[2] - e[1] >= LEVEL_LEAST);
    found.retain(|change| lasting.next().unwrap_or(false) && size(change) >= CHANGE_LEAST);
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found.truncate(CHANGES_MOST);
    found.sort_by_key(|change| change.at);
    found.into_iter().filter_map(|change| Some((groups.get(change.at)?.first()?.0, change))).collect()
}
