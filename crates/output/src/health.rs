//! The rows of load generator health, with the mark that their cautions give. Which mark a row gets is decided in
//! [`plimsoll_analysis::health`].

use crate::format::{NONE, chosen_s, count, counted, quantity, rate_of, ratio, rough_ns, rough_quantile};
use crate::words;
use plimsoll_analysis::caution::{Kind, Subject};
use plimsoll_analysis::health::{SubjectHealth, machines};
use plimsoll_analysis::summary::{Severity, Short, Summary, WorkerRow};
use plimsoll_plan::Fault;
use plimsoll_record::event::Environment;

/// One row.
#[derive(Debug)]
pub struct Row {
    /// The most severe caution about it; `None`: nothing was found.
    pub severity: Option<Severity>,
    pub label: String,
    /// The titles of the cautions about it, the most severe first.
    pub titles: Vec<String>,
    pub facts: Vec<String>,
}

/// All rows, in the order in which doubts usually matter.
pub fn rows(s: &Summary) -> Vec<Row> {
    let row = |subjects: &[Subject], label: &str, facts: Vec<String>| {
        let all: Vec<SubjectHealth> = subjects.iter().map(|one| SubjectHealth::of(s, *one)).collect();
        Row {
            // Severities are ordered from the heaviest.
            severity: all.iter().filter_map(|health| health.severity).min(),
            label: label.into(),
            titles: all.iter().flat_map(titles).collect(),
            facts,
        }
    };
    let mut rows = vec![
        row(&[Subject::Rate], "Rate", rate(s)),
        row(&[Subject::ScheduleLag], "Schedule lag", schedule_lag(s)),
        row(&[Subject::Workers], &format!("Workers ({})", s.client.workers.len().max(1)), workers(s)),
    ];
    rows.extend(busiest(s).map(|facts| row(&[], "Busiest worker", facts)));
    rows.extend([
        row(&[Subject::Machine], "Host", host(s)),
        row(&[Subject::Connections], "Connections", connections(s)),
    ]);
    rows.extend(tls(s).map(|facts| row(&[Subject::Tls], "TLS", facts)));
    rows.extend([
        row(&[Subject::Descriptors, Subject::Ports], "Limits", limits(s)),
        row(&[Subject::Network], "Network", network(s)),
        row(&[Subject::InFlight], "In flight", in_flight(s)),
        row(&[Subject::Little], "Little's law", little(s)),
        row(&[Subject::Record], "Record", record(s)),
    ]);
    rows
}

/// What a row is marked for: the titles of the cautions about it, the most severe first.
fn titles(health: &SubjectHealth<'_>) -> Vec<String> {
    health.cautions.iter().map(|c| c.title()).collect()
}

/// Open model: the offered rate and the achieved one. An arrival that starts several requests counts as an iteration.
fn rate(s: &Summary) -> Vec<String> {
    let many = s.counts_iterations();
    // Users that hold streams may never complete an iteration.
    let completes = s.achieved.iterations_per_s > 0.0 || s.offered.is_some();
    let share = s.achieved.ratio.map_or(String::new(), |share| format!(" ({})", ratio(share)));
    let requests = rate_of(s.achieved.rate_per_s, "req");
    let achieved = if many && completes {
        vec![format!("achieved {}{share}", rate_of(s.achieved.iterations_per_s, "iterations")), requests]
    } else {
        vec![format!("achieved {requests}{share}")]
    };
    let Some(offered) = &s.offered else {
        return achieved.into_iter().chain(["closed model: users wait for responses".into()]).collect();
    };
    let unit = if many { "arrivals" } else { "req" };
    let mut facts = vec![format!("offered {}", rate_of(offered.rate_per_s, unit))];
    facts.extend(achieved);
    if offered.arrivals_queued > 0 {
        facts.push(format!("{} waited for a connection", counted(offered.arrivals_queued, "arrival")));
    }
    if s.totals.arrivals_not_started > 0 {
        facts.push(format!("{} never started", counted(s.totals.arrivals_not_started, "arrival")));
    }
    facts
}

/// Delay of sends caused by the load generator, and the bound on the error of timestamps.
fn schedule_lag(s: &Summary) -> Vec<String> {
    let mut facts = match s.client.schedule_lag.count {
        0 if s.offered.is_none() => vec!["no schedule (closed model)".into()],
        0 => vec!["nothing was sent".into()],
        _ => vec![spread(&s.client.schedule_lag)],
    };
    let turn = &s.client.loop_time;
    if turn.count > 0 {
        // A response that is ready waits for the rest of its event-loop iteration: no stamp is later by more.
        let p99 = turn.quantile(0.99);
        let p99 = p99.value_ns().map_or_else(String::new, |_| format!("{} (p99), ", rough_quantile(p99)));
        facts.push(format!("timestamp error ≤ {p99}{} (max)", rough(turn.max_ns)));
    }
    facts
}

/// The mean over all workers.
fn workers(s: &Summary) -> Vec<String> {
    let all = &s.client.workers;
    let mean = |of: fn(&WorkerRow) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    shares(&WorkerRow {
        generator: 0,
        worker: 0,
        busy_ratio: mean(|w| w.busy_ratio),
        busy_poll_ratio: mean(|w| w.busy_poll_ratio),
        idle_ratio: mean(|w| w.idle_ratio),
        cpu_wait_ratio: mean(|w| w.cpu_wait_ratio),
    })
}

/// The busiest worker, where it has clearly more to do than the mean.
fn busiest(s: &Summary) -> Option<Vec<String>> {
    const CLEARLY: f64 = 1.25;
    let all = &s.client.workers;
    let mean = all.iter().map(|w| w.busy_ratio).sum::<f64>() / all.len().max(1) as f64;
    let busiest = all.iter().max_by(|a, b| a.busy_ratio.total_cmp(&b.busy_ratio))?;
    (all.len() > 1 && busiest.busy_ratio > mean * CLEARLY).then(|| {
        let name = match s.generators.len() {
            0 | 1 => format!("worker {}", busiest.worker),
            _ => format!("worker {} of load generator {}", busiest.worker, busiest.generator + 1),
        };
        [name].into_iter().chain(shares(busiest)).collect()
    })
}

fn shares(w: &WorkerRow) -> Vec<String> {
    vec![
        format!("busy {}", ratio(w.busy_ratio)),
        format!("busy-polling {}", ratio(w.busy_poll_ratio)),
        format!("idle {}", ratio(w.idle_ratio)),
        format!("waiting for CPU {}", ratio(w.cpu_wait_ratio)),
    ]
}

fn host(s: &Summary) -> Vec<String> {
    let machines = machines(s);
    let cpus: u32 = machines.values().sum();
    let mut facts = Vec::new();
    if cpus > 0 {
        let of = match machines.len() {
            0 | 1 => String::new(),
            n => format!(" of {n} machines"),
        };
        let used = ratio(s.client.host_busy_ratio);
        facts.push(format!("{}{of}, {used} used by all processes", counted(u64::from(cpus), "CPU")));
    }
    facts.push(format!("steal {}", ratio(s.client.steal_ratio)));
    // A caution about it has said so in its title.
    if s.environments.iter().any(|e| e.is_same_machine)
        && !s.cautions.iter().any(|c| c.kind == Kind::SameMachine)
    {
        facts.push("target on the same machine".into());
    }
    facts.extend(fault(s, Fault::ClientOutOfMemory, "failed: out of memory"));
    facts.extend(fault(s, Fault::ClientLimit, "exceeded a limit of the load generator"));
    facts.extend(fault(s, Fault::ClientSendRefused, "rejected by this host"));
    facts.extend(fault(s, Fault::OriginRefused, "to origins without permission"));
    facts.extend(fault(s, Fault::InvalidRequest, "were invalid"));
    facts
}

/// Who closed connections tells keep-alive races from planned ends.
fn connections(s: &Summary) -> Vec<String> {
    let c = &s.client.connections;
    let median = match c.requests_per_connection_p50 {
        Some(p50) => format!(" (median {} each)", count(p50)),
        None => String::new(),
    };
    let mut facts = vec![
        format!("{} opened, {} failed", count(c.opened), count(c.attempts.saturating_sub(c.opened))),
        format!("peak {}", count(c.peak)),
        format!("reused for {}{median}", counted(c.reused_requests, "request")),
    ];
    let closed = [c.closed_by_server, c.closed_by_client, c.closed_after_error];
    if closed.iter().any(|n| *n > 0) {
        let side = if c.closed_after_error > 0 { " (by either side)" } else { "" };
        let [server, client, error] = closed.map(count);
        facts.push(format!("closed: {server} by server, {client} by client, {error} after an error{side}"));
    }
    if let Some(http2) = &c.http2 {
        let users = counted(http2.streams_per_connection.into(), "user");
        facts.push(format!("HTTP/2 with {users} per connection"));
        for (n, what) in [
            (http2.goaways, "closed with GOAWAY"),
            (http2.requests_unprocessed, "requests retried"),
            (http2.streams_reset, "streams reset"),
            (http2.requests_limited_by_streams, "requests waited for a stream"),
        ] {
            if n > 0 {
                facts.push(format!("{} {what}", count(n)));
            }
        }
    }
    if let Some(expect) = &c.expect_continue {
        for (n, what) in [
            (expect.continued, "sent after 100 Continue"),
            (expect.sent_without_continue, "sent without 100 Continue"),
            (expect.refused_before_body, "refused before they were sent"),
        ] {
            if n > 0 {
                facts.push(format!("bodies {what}: {}", count(n)));
            }
        }
    }
    if c.redirects_cross_host > 0 {
        facts.push(format!("{} to another host, not followed", counted(c.redirects_cross_host, "redirect")));
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

/// Open files and ephemeral ports; of several machines those with the least room: the first to run out.
fn limits(s: &Summary) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(e) = s.environments.iter().min_by_key(|e| e.nofile_soft) {
        let raised = match e.nofile_soft == e.nofile_soft_found {
            true => String::new(),
            false => format!(" (raised from {})", count(e.nofile_soft_found)),
        };
        facts.push(format!("{} open files{raised}{}", count(e.nofile_soft), on_host(s, e)));
    }
    facts.extend(fault(s, Fault::FdLimit, "found no free file descriptor"));
    let room = |e: &Environment| u64::from(e.port_high).saturating_sub(u64::from(e.port_low)) + 1;
    // 0 to 0 is not a range of one port but one that could not be read.
    let known = || s.environments.iter().filter(|e| e.port_high > 0);
    if let Some(e) = known().min_by_key(|e| room(e)) {
        // Port numbers are names, not amounts: no commas.
        let range = format!("{}–{}", e.port_low, e.port_high);
        facts.push(format!(
            "{} ephemeral ports per target address ({range}){}",
            count(room(e)),
            on_host(s, e)
        ));
    } else {
        facts.push("ephemeral port range unknown".into());
    }
    facts.extend(fault(s, Fault::PortsExhausted, "found no free port"));
    facts
}

fn in_flight(s: &Summary) -> Vec<String> {
    let mut facts = vec![format!("peak {}", count(s.client.in_flight_peak))];
    let at_end = s.totals.in_flight_at_end;
    let bound = if at_end > 0 { ", counted as lower bounds" } else { "" };
    facts.push(format!("{} at the end{bound}", count(at_end)));
    if s.client.arrivals_queued_peak > 0 {
        facts.push(format!(
            "peak {} waiting for a connection",
            counted(s.client.arrivals_queued_peak, "arrival")
        ));
    }
    facts
}

fn network(s: &Summary) -> Vec<String> {
    let mut facts = vec![counted(s.client.retransmits, "retransmit")];
    if let Some(floor) = s.client.rtt_min_ns {
        facts.push(format!("RTT min {}", rough_ns(floor)));
    }
    // The kernel's smoothed round trip includes delayed acknowledgements and the server's time: not shown.
    if let Some(connect) = s.client.connections.connect_min_ns {
        facts.push(format!("fastest connect {}", rough_ns(connect)));
    }
    facts
}

/// N = X R (Little 1961) by two independent routes; where they differ, a clock or a counter is wrong.
fn little(s: &Summary) -> Vec<String> {
    let law = &s.client.littles_law;
    let mut facts = vec![format!("{} in flight measured", quantity(law.in_flight_mean))];
    facts.push(match s.totals.requests == 0 && s.streams.is_empty() {
        true => "no completed request to compare with".into(),
        false => format!("{} computed (throughput × service time)", quantity(law.in_flight_computed)),
    });
    if !s.streams.is_empty() {
        facts.push("an open stream counts as in flight".into());
    }
    if let Some(users) = law.users_mean {
        let outside =
            law.users_outside_ratio.map(|share| format!(", {} of their time between requests", ratio(share)));
        facts.push(format!("{} users{}", quantity(users), outside.unwrap_or_default()));
    }
    facts
}

fn record(s: &Summary) -> Vec<String> {
    const GAPS_SHOWN: usize = 3;
    let mut facts = vec![if s.is_complete { "complete".into() } else { "incomplete".into() }];
    facts.push(words::stopped_by(s.stopped_by).into());
    if s.client.intervals_late > 0 {
        facts
            .push(format!("{} recorded more than 100 ms late", counted(s.client.intervals_late, "interval")));
    }
    for gap in s.gaps.iter().take(GAPS_SHOWN) {
        facts.push(format!(
            "no data from {} to {}: {}",
            chosen_s(gap.from_s),
            chosen_s(gap.to_s),
            gap.reason
        ));
    }
    if s.gaps.len() > GAPS_SHOWN {
        facts.push(format!("and {}", counted((s.gaps.len() - GAPS_SHOWN) as u64, "more gap")));
    }
    facts
}

/// Failures of the load generator, where the row about their resource shows them.
fn fault(s: &Summary, fault: Fault, what: &str) -> Option<String> {
    let row = s.client.faults.iter().find(|row| row.class == fault && row.count > 0)?;
    Some(format!("{} {what}", counted(row.count, "attempt")))
}

fn on_host(s: &Summary, e: &Environment) -> String {
    if s.environments.len() > 1 { format!(" on {}", e.host) } else { String::new() }
}

fn spread(short: &Short) -> String {
    let (p50, p99) = (rough_quantile(short.quantile(0.5)), rough_quantile(short.quantile(0.99)));
    format!("p50 {p50}, p99 {p99}, max {}", rough(short.max_ns))
}

fn rough(ns: Option<u64>) -> String {
    ns.map_or_else(|| NONE.into(), rough_ns)
}
