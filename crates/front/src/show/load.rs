//! Describes load models: the level over time, and the end.

use super::words::{Lines, count, level, time};
use plimsoll_plan::Plan;
use plimsoll_plan::load::{Arrivals, Load, Profile, Workload};
use plimsoll_plan::unit::SECOND_NS;

/// Maximum number of stages shown; a trace has thousands.
const MOST_LEGS: usize = 16;

pub fn show(plan: &Plan, out: &mut Lines) {
    let outline = &plan.outline;
    let recorded =
        |workload: usize| plan.recorded.get(workload).and_then(|all| all.as_ref()).map(|all| all.len());
    if outline.workloads.is_empty() {
        out.fact("load", &model(&outline.load, outline.connections, recorded(0)));
        legs(outline.load.profile(), outline.load.is_open(), out);
    }
    for (number, workload) in outline.workloads.iter().enumerate() {
        out.fact("load", &workload_words(workload, recorded(number)));
        legs(workload.load.profile(), workload.load.is_open(), out);
    }
    let mut ends = Vec::new();
    ends.extend(outline.stop.duration_ns.map(|ns| format!("after {}", time(ns))));
    ends.extend(outline.stop.requests.map(|requests| format!("after {}", count(requests, "request"))));
    if ends.is_empty() {
        ends.push("when all iterations are complete".to_owned());
    }
    let mut end = ends.join(" or ");
    if outline.graceful_stop_ns > 0 {
        end.push_str(&format!(", plus {} for started iterations to finish", time(outline.graceful_stop_ns)));
    }
    out.fact("ends", &end);
    if outline.warmup_ns > 0 {
        out.fact("warmup", &format!("{}, not counted", time(outline.warmup_ns)));
    }
}

fn workload_words(workload: &Workload, recorded: Option<usize>) -> String {
    let mut text = format!("`{}`: {}", workload.name, model(&workload.load, workload.connections, recorded));
    if let Some(iterations) = workload.iterations {
        text.push_str(&format!(", {} in total", count(iterations, "iteration")));
    }
    if let Some(loops) = workload.loops {
        text.push_str(&format!(", {} per user", count(loops, "iteration")));
    }
    text
}

fn model(load: &Load, connections: u32, recorded: Option<usize>) -> String {
    match load {
        Load::Closed { users } if users.stages.is_empty() => count(users.start as u64, "user"),
        Load::Closed { users } => format!("up to {}", count(users.peak() as u64, "user")),
        Load::Open { rate_per_s, arrivals } => {
            let spread = match arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "Poisson",
                Arrivals::Recorded => "as recorded",
            };
            let rate = match (recorded, rate_per_s.stages.is_empty()) {
                (Some(arrivals), _) => count(arrivals as u64, "arrival"),
                (None, true) => format!("{} arrivals/s", level(rate_per_s.start)),
                (None, false) => format!("up to {} arrivals/s", level(rate_per_s.peak())),
            };
            format!("{rate}, {spread}, at most {}", count(u64::from(connections), "connection"))
        }
    }
}

fn legs(profile: &Profile, open: bool, out: &mut Lines) {
    let unit = if open { "/s" } else { " users" };
    let (mut at_ns, mut now) = (0u64, profile.start);
    let mut told = 0;
    for stage in &profile.stages {
        let is_same = (stage.to - now).abs() < 1e-9;
        // A stage without duration and change has no effect.
        if stage.duration_ns == 0 && is_same {
            continue;
        }
        if told == MOST_LEGS {
            out.line(7, "...");
            return;
        }
        told += 1;
        let to = format!("{}{unit}", level(stage.to));
        let words = match (stage.duration_ns, is_same) {
            (0, _) => format!("jump to {to}"),
            (ns, true) => format!("{to} for {}", time(ns)),
            (ns, false) => format!("{}{unit} to {to} in {}", level(now), time(ns)),
        };
        // Tenths of a second are precise enough.
        let from = at_ns - at_ns % (SECOND_NS / 10);
        out.line(7, &format!("at {:<8}{words}", time(from)));
        now = stage.to;
        at_ns = at_ns.saturating_add(stage.duration_ns);
    }
}
