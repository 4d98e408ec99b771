//! The trust box as data: what the load generator says of itself, line by line, with the sign that its cautions give.
//!
//! Terminal and Markdown draw the same rows. Which sign a line gets is decided in [`plimsoll_analysis::health`].

use crate::format::{
    chosen_s, count, counted, duration_ns, maybe_ns, quantile, quantity, rate_of, rate_per_s, ratio,
};
use crate::words;
use plimsoll_analysis::caution::{Kind, Subject};
use plimsoll_analysis::health::SubjectHealth;
use plimsoll_analysis::summary::{Severity, Short, Summary, WorkerRow};
use plimsoll_plan::Fault;
use plimsoll_record::event::Environment;

/// One line of the box.
#[derive(Debug)]
pub struct Row {
    /// The heaviest caution about it; `None` is the sign for "nothing found".
    pub weight: Option<Severity>,
    pub label: String,
    /// A share to draw as a bar in front of the facts.
    pub bar: Option<f64>,
    pub facts: Vec<String>,
}

/// All lines, in the order in which doubts usually matter.
pub fn rows(s: &Summary) -> Vec<Row> {
    let row = |subject, label: &str, facts: Vec<String>| {
        let health = SubjectHealth::of(s, subject);
        Row {
            weight: health.weight,
            label: label.into(),
            bar: None,
            facts: titles(&health).chain(facts).collect(),
        }
    };
    let mut rows = vec![row(Subject::Rate, "rate", rate(s)), row(Subject::Lateness, "lateness", lateness(s))];
    rows.extend(workers(s));
    rows.push(row(Subject::Machine, "machine", machine(s)));
    rows.push(row(Subject::Connections, "connections", connections(s)));
    rows.extend(tls(s).map(|facts| row(Subject::Tls, "tls", facts)));
    rows.push(row(Subject::Descriptors, "descriptors", descriptors(s)));
    rows.push(row(Subject::Ports, "local ports", ports(s)));
    rows.push(row(Subject::InFlight, "in flight", in_flight(s)));
    rows.push(row(Subject::Network, "network", network(s)));
    rows.push(row(Subject::Little, "N = X R", little(s)));
    rows.push(row(Subject::Record, "record", record(s)));
    rows
}

/// What a line is marked for, in words: the cautions about it, the heaviest first.
fn titles(health: &SubjectHealth<'_>) -> impl Iterator<Item = String> {
    health.cautions.iter().map(|c| c.title())
}

/// Open model: what was asked for against what ended, in an answer or a failure. In the closed model the line says
/// why there is no such comparison, because that is the model's blind spot. An arrival that starts several requests
/// is not to be held against them, but against iterations.
fn rate(s: &Summary) -> Vec<String> {
    let many = s.counts_iterations();
    // Users that hold streams may never come to the end of an iteration.
    let ends = s.achieved.iterations_per_s > 0.0 || s.offered.is_some();
    let achieved = if many && ends {
        let iterations = rate_of(s.achieved.iterations_per_s, "iterations");
        format!("achieved {iterations}, {}", rate_of(s.achieved.rate_per_s, "requests"))
    } else {
        format!("achieved {}", rate_per_s(s.achieved.rate_per_s))
    };
    let Some(offered) = &s.offered else {
        return vec![achieved, "closed model: nothing is offered, each user waits for its answer".into()];
    };
    let asked = if many { rate_of(offered.rate_per_s, "arrivals") } else { rate_per_s(offered.rate_per_s) };
    let mut facts = vec![format!("offered {asked}"), achieved];
    if let Some(share) = s.achieved.ratio {
        facts.push(format!("{} kept up with", ratio(share)));
    }
    if offered.starved > 0 {
        facts.push(format!("{} waited for a connection", arrivals(offered.starved)));
    }
    if s.totals.never_started > 0 {
        facts.push(format!("{} never started", arrivals(s.totals.never_started)));
    }
    facts
}

/// How far sends were behind their instants, and how exact any time stamp can be.
fn lateness(s: &Summary) -> Vec<String> {
    let mut facts = match s.client.lateness.count {
        0 if s.offered.is_none() => vec!["no schedule to be late for".into()],
        0 => vec!["nothing was sent".into()],
        n => vec![spread(&s.client.lateness), counted(n, "send")],
    };
    if s.client.turn.count > 0 {
        // What is ready waits for the rest of its turn before anybody looks at it: no stamp is later by more.
        let max = maybe_ns(s.client.turn.max_ns);
        let p99 = s.client.turn.quantile(0.99);
        let p99 = p99.value_ns().map_or_else(String::new, |_| format!("{} (p99), ", quantile(p99)));
        facts.push(format!("clock error up to {p99}{max} (max)"));
    }
    facts
}

/// Up to four workers one by one; of more, their mean and the busiest.
fn workers(s: &Summary) -> Vec<Row> {
    const ONE_BY_ONE: usize = 4;
    let all = &s.client.workers;
    let health = SubjectHealth::of(s, Subject::Workers);
    let row = |label: String, w: &WorkerRow| Row {
        weight: health.weight,
        label,
        bar: Some(w.busy_ratio + w.busy_poll_ratio),
        facts: vec![
            format!("busy {}", ratio(w.busy_ratio)),
            format!("spin {}", ratio(w.busy_poll_ratio)),
            format!("asleep {}", ratio(w.idle_ratio)),
            format!("run queue {}", ratio(w.cpu_wait_ratio)),
        ]
        .into_iter()
        // Behind the figures: the bar belongs to the first of them.
        .chain(titles(&health))
        .collect(),
    };
    if all.len() <= ONE_BY_ONE {
        let merged = s.generators.len() > 1;
        let label = |w: &WorkerRow| match merged {
            true => format!("worker {}/{}", w.generator + 1, w.worker),
            false => format!("worker {}", w.worker),
        };
        return all.iter().map(|w| row(label(w), w)).collect();
    }
    let mean = |of: fn(&WorkerRow) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    let middle = WorkerRow {
        generator: 0,
        worker: 0,
        busy_ratio: mean(|w| w.busy_ratio),
        busy_poll_ratio: mean(|w| w.busy_poll_ratio),
        idle_ratio: mean(|w| w.idle_ratio),
        cpu_wait_ratio: mean(|w| w.cpu_wait_ratio),
    };
    let mut rows = vec![row(format!("{} workers", all.len()), &middle)];
    if let Some(busiest) = all.iter().max_by(|a, b| a.busy_ratio.total_cmp(&b.busy_ratio)) {
        rows.push(row("the busiest".into(), busiest));
    }
    rows
}

fn machine(s: &Summary) -> Vec<String> {
    let cpus: u32 = s.environments.iter().map(|e| e.cpus).sum();
    let mut facts = Vec::new();
    if cpus > 0 {
        let of = if s.environments.len() > 1 {
            format!(" of {} machines", s.environments.len())
        } else {
            "".into()
        };
        let plural = if cpus == 1 { "" } else { "s" };
        facts
            .push(format!("{cpus} CPU{plural}{of}, {} in use by everybody", ratio(s.client.host_busy_ratio)));
    }
    facts.push(format!("steal {}", ratio(s.client.steal_ratio)));
    // Where it is a caution its title has said so.
    if s.environments.iter().any(|e| e.is_same_machine)
        && !s.cautions.iter().any(|c| c.kind == Kind::SameMachine)
    {
        facts.push("the target runs here too".into());
    }
    facts.extend(fault(s, Fault::ClientMemory, "failed for lack of memory"));
    facts.extend(fault(s, Fault::ClientLimit, "cut off by a limit of the load generator"));
    facts.extend(fault(s, Fault::ClientOther, "were refused by this machine"));
    facts
}

/// Attempts and openings apart: a difference is a failure of somebody. Who closed tells keep-alive races from planned
/// ends.
fn connections(s: &Summary) -> Vec<String> {
    let c = &s.client.connections;
    let mut facts = vec![
        format!("{} tried, {} opened", count(c.attempts), count(c.opened)),
        format!("at most {} at once", count(c.peak)),
        format!("{} on a used one", counted(c.reused_requests, "request")),
        format!(
            "closed by the server {}, by us {}, after a failure {}",
            count(c.closed_by_server),
            count(c.closed_by_us),
            count(c.closed_by_fault)
        ),
    ];
    if let (Some(p50), Some(max)) = (c.requests_per_connection_p50, c.requests_per_connection_max) {
        facts.push(format!("after {} (p50), {} (max)", counted(p50, "request"), count(max)));
    }
    facts.push(format!("{} open at the stop", count(c.open_at_end)));
    if c.redirects_elsewhere > 0 {
        let n = counted(c.redirects_elsewhere, "redirect");
        facts.push(format!("{n} to another host, not followed"));
    }
    facts
}

/// Whether sessions were resumed: a resumed handshake costs the server a fraction of a full one.
fn tls(s: &Summary) -> Option<Vec<String>> {
    let tls = s.tls.as_ref()?;
    let mut facts = vec![counted(tls.handshakes, "handshake")];
    if tls.handshakes > 0 {
        facts.push(format!("{} resumed ({})", count(tls.resumptions), ratio(tls.resumed_ratio)));
        facts.push(spread(&tls.handshake));
    }
    Some(facts)
}

/// Of several machines the one with the least room: the first to run out.
fn descriptors(s: &Summary) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(e) = s.environments.iter().min_by_key(|e| e.nofile_soft) {
        let raised = if e.nofile_soft == e.nofile_soft_found {
            String::new()
        } else {
            format!(", raised from {}", count(e.nofile_soft_found))
        };
        let soft = count(e.nofile_soft);
        facts.push(format!("limit {soft}{raised} (hard limit {}){}", count(e.nofile_hard), on_host(s, e)));
    }
    facts.extend(fault(s, Fault::FdLimit, "found none free"));
    facts
}

fn ports(s: &Summary) -> Vec<String> {
    let mut facts = Vec::new();
    let room = |e: &Environment| u64::from(e.port_high).saturating_sub(u64::from(e.port_low)) + 1;
    // 0 to 0 is not a range of one port but one that could not be read.
    let known = || s.environments.iter().filter(|e| e.port_high > 0);
    if known().next().is_none() {
        facts.push("range not known".into());
    }
    if let Some(e) = known().min_by_key(|e| room(e)) {
        // Port numbers are names, not amounts: no commas.
        let range = format!("{}-{}", e.port_low, e.port_high);
        facts.push(format!("{} to one address ({range}){}", count(room(e)), on_host(s, e)));
    }
    facts.extend(fault(s, Fault::PortsExhausted, "found none free"));
    facts
}

fn in_flight(s: &Summary) -> Vec<String> {
    let mut facts = vec![
        format!("{} at the stop", count(s.totals.in_flight_at_end)),
        format!("at most {}", count(s.client.in_flight_peak)),
    ];
    if s.client.waiting_peak > 0 {
        facts.push(format!("at most {} waiting", arrivals(s.client.waiting_peak)));
    }
    if s.response_time.censored > 0 {
        facts.push(format!("{} times known only as \"longer than\"", count(s.response_time.censored)));
    }
    facts
}

fn network(s: &Summary) -> Vec<String> {
    let mut facts = vec![counted(s.client.retransmits, "retransmit")];
    if let Some(floor) = s.client.rtt_floor_ns {
        facts.push(format!("RTT min {}", duration_ns(floor)));
    }
    // The smoothed round trip of the kernel has delayed acknowledgements and the server's time in it: not told.
    if let Some(connect) = s.client.connections.connect_min_ns {
        facts.push(format!("fastest connect {}", duration_ns(connect)));
    }
    facts
}

/// N = X R (Little 1961) by two independent routes; where they differ, a clock or a counter is wrong.
fn little(s: &Summary) -> Vec<String> {
    let law = &s.client.littles_law;
    let mut facts = vec![format!("{} in flight by the clock", quantity(law.in_flight_mean))];
    facts.push(match s.totals.requests == 0 && s.streams.is_empty() {
        true => "nothing finished to hold against it".into(),
        false => format!("{} by rate times service time", quantity(law.in_flight_computed)),
    });
    if !s.streams.is_empty() {
        facts.push("a stream is in flight while it is open".into());
    }
    if let Some(users) = law.users_mean {
        let outside =
            law.users_outside_ratio.map(|share| format!(", {} of their time outside requests", ratio(share)));
        facts.push(format!("{} users{}", quantity(users), outside.unwrap_or_default()));
    }
    facts
}

fn record(s: &Summary) -> Vec<String> {
    const GAPS_SHOWN: usize = 3;
    let mut facts = vec![if s.is_complete { "complete".into() } else { "incomplete".into() }];
    facts.push(words::stopped_by(s.stopped_by).into());
    if s.client.late_ticks > 0 {
        let plural = if s.client.late_ticks == 1 { "" } else { "s" };
        facts.push(format!("{} tick{plural} handed over more than 100 ms late", count(s.client.late_ticks)));
    }
    for gap in s.gaps.iter().take(GAPS_SHOWN) {
        facts.push(format!(
            "nothing from {} to {}: {}",
            chosen_s(gap.from_s),
            chosen_s(gap.to_s),
            gap.reason
        ));
    }
    if s.gaps.len() > GAPS_SHOWN {
        facts.push(format!("and {} more gaps", s.gaps.len() - GAPS_SHOWN));
    }
    facts
}

/// A failure on the client's side, where the line about its resource can say it.
fn fault(s: &Summary, fault: Fault, what: &str) -> Option<String> {
    let row = s.client.faults.iter().find(|row| row.class == fault.name() && row.count > 0)?;
    let plural = if row.count == 1 { "" } else { "s" };
    Some(format!("{} attempt{plural} {what}", count(row.count)))
}

fn on_host(s: &Summary, e: &Environment) -> String {
    if s.environments.len() > 1 { format!(" on {}", e.host) } else { String::new() }
}

fn spread(short: &Short) -> String {
    let (p50, p99) = (quantile(short.quantile(0.5)), quantile(short.quantile(0.99)));
    format!("p50 {p50}, p99 {p99}, max {}", maybe_ns(short.max_ns))
}

fn arrivals(n: u64) -> String {
    format!("{} arrival{}", count(n), if n == 1 { "" } else { "s" })
}
