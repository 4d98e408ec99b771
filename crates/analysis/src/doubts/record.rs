//! Is the record whole, long enough, and of one experiment?

use super::Evidence;
use crate::caution::Kind;
use crate::cells::Cells;
use crate::facts::Machine;
use crate::summary::{Caution, Severity};
use plimsoll_plan::Outline;
use plimsoll_plan::load::Share;
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::phrase::{chosen_ns, count, counted, duration_ns};
use plimsoll_record::event::{NoteKind, StoppedBy};
use plimsoll_record::steered::{Steered, pauses};
use std::collections::BTreeSet;

/// How many gaps are told one by one.
const TOLD: usize = 3;

pub(super) fn record(e: &Evidence, into: &mut Vec<Caution>) {
    into.extend(missing(e));
    into.extend(nothing(e));
    into.extend(differ(e));
    into.extend(outliers(e));
    into.extend(short(e));
    into.extend(steered(e));
    into.extend(stopped(e));
}

/// Seconds, ends, workers or machines that should be there. A gap of the disk alone is only a warning: the totals
/// were kept in memory.
fn missing(e: &Evidence) -> Option<Caution> {
    let mut found: Vec<String> = Vec::new();
    let lost: Vec<&String> = e
        .facts
        .machines
        .iter()
        .filter_map(|m| m.origin.ending.as_ref())
        .flat_map(|ending| &ending.lost_workers)
        .collect();
    if let Some(first) = lost.first() {
        found.push(format!("{} died: {first}", counted(lost.len() as u64, "worker")));
    }
    found.extend(missing_parts(e));
    let many = e.facts.machines.len() > 1;
    let mut only_rows = found.is_empty();
    for hole in e.holes {
        only_rows &= hole.in_totals;
        let on = if many { format!(" ({})", hole.gap.origin) } else { String::new() };
        found.push(match hole.gap.to_s > hole.gap.from_s {
            true => {
                let at = |s: f64| chosen_ns((s * 1e9).round() as u64);
                format!("{} to {}: {}{on}", at(hole.gap.from_s), at(hole.gap.to_s), hole.gap.why)
            }
            false => format!("{}{on}", hole.gap.why),
        });
    }
    if found.is_empty() {
        return None;
    }
    let rest = found.len().saturating_sub(TOLD);
    found.truncate(TOLD);
    let more = if rest > 0 { format!("; and {} more", count(rest as u64)) } else { String::new() };
    let mut caution = Kind::MissingIntervals.raise(format!("{}{more}", found.join("; ")));
    if only_rows {
        caution.weight = Severity::Warning;
        caution.title = "seconds are missing in the timeline".into();
        caution.advice =
            "the totals hold them all the same; make room on the disk before the next run".into();
    }
    Some(caution)
}

/// Machines that shared the load and are not there. One alone is that machine's own report and complete as such.
fn missing_parts(e: &Evidence) -> Option<String> {
    if e.facts.machines.len() < 2 {
        return None;
    }
    let there: Vec<Share> = e.facts.machines.iter().map(|m| m.plan().share).collect();
    let wholes: BTreeSet<u32> = there.iter().map(|share| share.of).collect();
    let parts = wholes.into_iter().flat_map(|of| (1..=of).map(move |part| Share { part, of }));
    // A handful is enough to be told, and a share of millions is somebody's joke.
    let absent = parts.filter(|share| !there.contains(share)).take(TOLD);
    let absent: Vec<String> = absent.map(|share| format!("{}/{}", share.part, share.of)).collect();
    (!absent.is_empty()).then(|| format!("no record of the machine with share {}", absent.join(", ")))
}

fn nothing(e: &Evidence) -> Option<Caution> {
    if e.facts.has_measured() {
        return None;
    }
    let sent = e.facts.all.sum(SeriesSum::Sent);
    let waiting = e.facts.run.of(RunSum::InFlightAtStop);
    let evidence = match (e.facts.machines.is_empty(), e.facts.measured_ns) {
        (true, _) => "the record is empty".to_owned(),
        (_, 0) if e.facts.plan.warmup_ns > 0 => "the run was over before the warm-up was".to_owned(),
        (_, 0) => "nothing was sent".to_owned(),
        (_, ns) => format!(
            "no request finished in {}; {} sent, {} unanswered at the stop",
            chosen_ns(ns),
            count(sent),
            count(waiting)
        ),
    };
    Some(Kind::NoRequests.raise(evidence))
}

/// What makes two plans one experiment: everything except the seed, the name and what suits the machine; and shares
/// that belong together.
fn differ(e: &Evidence) -> Option<Caution> {
    let first = e.facts.machines.first()?.plan();
    let mut what: Vec<String> = Vec::new();
    let mut compare = |name: &str, differs: &dyn Fn(&Outline) -> Option<String>| {
        if let Some(text) = e.facts.machines.iter().find_map(|m| differs(m.plan())) {
            what.push(format!("{name} ({text})"));
        }
    };
    compare("targets", &|p| (p.target != first.target).then(|| format!("{} and {}", first.target, p.target)));
    compare("requests", &|p| {
        let names = |o: &Outline| o.requests.iter().map(|r| r.name.clone()).collect::<Vec<_>>().join(", ");
        (p.requests != first.requests).then(|| format!("{} and {}", names(first), names(p)))
    });
    compare("loads", &|p| (p.load != first.load || p.lanes != first.lanes).then(|| "see the plans".into()));
    compare("ways to connect", &|p| (p.link != first.link).then(|| "see the plans".into()));
    compare("warm-ups", &|p| {
        let text = |o: &Outline| chosen_ns(o.warmup_ns);
        (p.warmup_ns != first.warmup_ns).then(|| format!("{} and {}", text(first), text(p)))
    });
    compare("time-outs", &|p| {
        let text = |o: &Outline| chosen_ns(o.timeout_ns);
        (p.timeout_ns != first.timeout_ns).then(|| format!("{} and {}", text(first), text(p)))
    });
    compare("keep-alives", &|p| (p.keep_alive != first.keep_alive).then(|| "one with, one without".into()));
    compare("lengths", &|p| (p.stop != first.stop).then(|| format!("{} and {}", length(first), length(p))));
    compare("connections", &|p| {
        let text = |o: &Outline| count(o.connections.into());
        (p.connections != first.connections).then(|| format!("{} and {}", text(first), text(p)))
    });
    let mut told: Vec<String> = Vec::new();
    if !what.is_empty() {
        told.push(format!("different {}", what.join(", ")));
    }
    told.extend(shares(e));
    (!told.is_empty()).then(|| Kind::MergedTargetsDiffer.raise(told.join("; ")))
}

/// What ends a run, as planned.
fn length(plan: &Outline) -> String {
    let time = plan.stop.duration_ns.map(chosen_ns);
    let requests = plan.stop.requests.map(|n| counted(n, "request"));
    time.into_iter().chain(requests).collect::<Vec<_>>().join(" or ")
}

/// Parts make a whole when all are of one division and none is there twice.
fn shares(e: &Evidence) -> Vec<String> {
    let there: Vec<Share> = e.facts.machines.iter().map(|m| m.plan().share).collect();
    let mut told = Vec::new();
    let wholes: BTreeSet<u32> = there.iter().map(|share| share.of).collect();
    if wholes.len() > 1 {
        let wholes: Vec<String> = wholes.iter().take(TOLD).map(|of| format!("1/{of}")).collect();
        told.push(format!("shares of different divisions ({})", wholes.join(", ")));
    }
    let twice = (1..there.len()).find(|at| there[..*at].contains(&there[*at])).map(|at| there[at]);
    told.extend(twice.map(|share| format!("share {}/{} is there more than once", share.part, share.of)));
    told
}

/// Rates of machines add up only while all of them load.
fn outliers(e: &Evidence) -> Option<Caution> {
    let window =
        |m: &Machine| (m.opening().started_unix_ns, m.opening().started_unix_ns.saturating_add(m.elapsed_ns));
    let from = e.facts.machines.iter().map(|m| window(m).0).max()?;
    let to = e.facts.machines.iter().map(|m| window(m).1).min()?;
    let shortest = e.facts.machines.iter().map(|m| m.elapsed_ns).min()?;
    let longest = e.facts.machines.iter().map(|m| m.elapsed_ns).max()?;
    let shared = to.saturating_sub(from);
    // A wall clock is good to some ten milliseconds; runs of a second are not refused for that.
    let enough = (longest as f64 * e.limits.overlap) as u64;
    (e.facts.machines.len() > 1 && shared.saturating_add(100_000_000) < enough).then(|| {
        Kind::MergedApart.raise(format!(
            "they share {} of runs of {} to {}",
            chosen_ns(shared),
            chosen_ns(shortest),
            chosen_ns(longest)
        ))
    })
}

fn short(e: &Evidence) -> Option<Caution> {
    let ns = e.facts.measured_ns;
    (e.facts.has_measured() && ns < e.limits.short_ns)
        .then(|| Kind::ShortRun.raise(format!("{} were measured", chosen_ns(ns))))
}

/// Pauses and levels that somebody chose while the load ran. Of several machines each may have been steered.
fn steered(e: &Evidence) -> Option<Caution> {
    let mut told: Vec<String> = Vec::new();
    let many = e.facts.machines.len() > 1;
    for machine in &e.facts.machines {
        let notes = &machine.origin.notes;
        let on = if many { format!(" ({})", machine.opening().environment.host) } else { String::new() };
        let paused = pauses(notes, machine.elapsed_ns).into_iter().map(|(from_ns, to_ns)| {
            (from_ns, format!("paused from {} to {}{on}", duration_ns(from_ns), duration_ns(to_ns)))
        });
        let levels = notes.iter().filter_map(|note| match Steered::of(note)? {
            Steered::Level(to) => Some((note.at_ns, format!("{to} from {} on{on}", duration_ns(note.at_ns)))),
            Steered::Paused | Steered::Resumed => None,
        });
        let mut steps: Vec<(u64, String)> = paused.chain(levels).collect();
        steps.sort_by_key(|(at_ns, _)| *at_ns);
        told.extend(steps.into_iter().map(|(_, text)| text));
    }
    let rest = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let more = if rest > 0 { format!("; and {} more", count(rest as u64)) } else { String::new() };
    (!told.is_empty()).then(|| Kind::SteeredByHand.raise(format!("{}{more}", told.join("; "))))
}

fn stopped(e: &Evidence) -> Option<Caution> {
    let by = e.facts.stopped_by()?;
    let hand = matches!(by, StoppedBy::Interrupt | StoppedBy::InterruptAllowed);
    if !hand && !matches!(by, StoppedBy::Command | StoppedBy::Threshold) {
        return None;
    }
    let planned = match e.facts.plan.stop.duration_ns {
        Some(ns) => format!(" of {}", chosen_ns(ns)),
        None => String::new(),
    };
    let elapsed_ns = e.facts.machines.iter().map(|m| m.elapsed_ns).max().unwrap_or(0);
    let why = e
        .facts
        .machines
        .iter()
        .flat_map(|m| &m.origin.notes)
        .rfind(|note| note.kind == NoteKind::Control)
        .map(|note| note.text.clone());
    let why = why.unwrap_or_else(|| match by {
        StoppedBy::Interrupt | StoppedBy::InterruptAllowed => "interrupted".into(),
        StoppedBy::Threshold => "stopped by a threshold".into(),
        StoppedBy::Command | StoppedBy::Duration | StoppedBy::Requests | StoppedBy::Retired => {
            "stopped by a command".into()
        }
    });
    Some(Kind::Interrupted.raise(format!("after {}{planned}: {why}", chosen_ns(elapsed_ns))))
}
