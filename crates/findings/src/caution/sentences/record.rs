//! Sentences about missing parts of the record and manual changes of the run.

use crate::caution::evidence::{
    EmptyRun, PlanDifference, RecordLoss, RunLength, SteeredChange, SteeredStep, StopCause,
};
use plimsoll_plan::load::Share;
use plimsoll_plan::phrase::{chosen_ns, chosen_s, count, counted, duration_ns};

/// ` (a)`: on which machine, where there are several.
fn on(machine: Option<&str>) -> String {
    machine.map_or(String::new(), |machine| format!(" ({machine})"))
}

pub fn loss(one: &RecordLoss) -> String {
    match one {
        RecordLoss::Workers { workers_count, reason: why } => {
            format!("{} died: {why}", counted(*workers_count, "worker"))
        }
        RecordLoss::Machines { shares } => {
            let shares: Vec<String> =
                shares.iter().map(|share| format!("{}/{}", share.part, share.of)).collect();
            format!("no record of shard {}", shares.join(", "))
        }
        RecordLoss::Seconds { from_s, to_s, reason: why, generator: origin } => {
            format!("{} to {}: {why}{}", chosen_s(*from_s), chosen_s(*to_s), on(origin.as_deref()))
        }
        RecordLoss::End { reason: why, generator: origin } => format!("{why}{}", on(origin.as_deref())),
    }
}

/// `eu-1` is the one that was lost first.
pub fn agents(count: u64, of: u64, first: &str, recorded_ns: u64) -> String {
    let after = chosen_ns(recorded_ns);
    match count {
        1 => format!("`{first}`, one of {of}, after {after}"),
        _ => format!("{count} of {of}, the first one `{first}` after {after}"),
    }
}

pub fn nothing(run: EmptyRun, measured_ns: u64, sent: u64, unanswered: u64) -> String {
    match run {
        EmptyRun::NoRecord => "the record is empty".to_owned(),
        EmptyRun::WarmUpOnly => "the run ended during the warmup".to_owned(),
        EmptyRun::NothingSent => "nothing was sent".to_owned(),
        EmptyRun::NothingFinished => format!(
            "no request completed in {}; {} sent, {} in flight at the end",
            chosen_ns(measured_ns),
            count(sent),
            count(unanswered)
        ),
    }
}

/// `different targets (a and b), warm-ups (1 s and 2 s); shard 1/2 appears more than once`
pub fn plans(differences: &[PlanDifference], divisions: &[u32], repeated: Option<Share>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !differences.is_empty() {
        let differences: Vec<String> = differences.iter().map(difference).collect();
        parts.push(format!("different {}", differences.join(", ")));
    }
    if !divisions.is_empty() {
        let wholes: Vec<String> = divisions.iter().map(|of| format!("1/{of}")).collect();
        parts.push(format!("shards of different divisions ({})", wholes.join(", ")));
    }
    parts.extend(repeated.map(|share| format!("shard {}/{} appears more than once", share.part, share.of)));
    parts.join("; ")
}

fn difference(one: &PlanDifference) -> String {
    const PLANS: &str = "see the plans";
    let (name, text) = match one {
        PlanDifference::Targets { first, other } => ("targets", format!("{first} and {other}")),
        PlanDifference::Requests { first, other } => {
            ("requests", format!("{} and {}", first.join(", "), other.join(", ")))
        }
        PlanDifference::Loads => ("loads", PLANS.into()),
        PlanDifference::Links => ("connection settings", PLANS.into()),
        PlanDifference::WarmUps { first_ns, other_ns } => {
            ("warmups", format!("{} and {}", chosen_ns(*first_ns), chosen_ns(*other_ns)))
        }
        PlanDifference::Timeouts { first_ns, other_ns } => {
            ("timeouts", format!("{} and {}", chosen_ns(*first_ns), chosen_ns(*other_ns)))
        }
        PlanDifference::KeepAlives => ("keep-alives", "enabled in one, disabled in the other".into()),
        PlanDifference::Lengths { first, other } => {
            ("lengths", format!("{} and {}", length(*first), length(*other)))
        }
        PlanDifference::Connections { first_count, other_count } => {
            ("connections", format!("{} and {}", count((*first_count).into()), count((*other_count).into())))
        }
    };
    format!("{name} ({text})")
}

fn length(of: RunLength) -> String {
    let time = of.duration_ns.map(chosen_ns);
    let requests = of.requests_count.map(|n| counted(n, "request"));
    time.into_iter().chain(requests).collect::<Vec<_>>().join(" or ")
}

pub fn steered(one: &SteeredStep) -> String {
    let (from, on) = (duration_ns(one.from_ns), on(one.host.as_deref()));
    match one.change {
        SteeredChange::Paused { to_ns } => format!("paused from {from} to {}{on}", duration_ns(to_ns)),
        SteeredChange::Level(to) => format!("{to} since {from}{on}"),
    }
}

pub fn stop(by: StopCause) -> &'static str {
    match by {
        StopCause::Interrupt => "interrupted",
        StopCause::Threshold => "stopped by a threshold",
        StopCause::Command => "stopped by a command",
    }
}
