//! How connections were used: again or not, by all alike or by a few, and how many more this machine can make.

use super::Inputs;
use crate::caution::Evidence;
use crate::cells::Cells;
use crate::facts::{Machine, ratio};
use crate::summary::{Caution, Severity};
use plimsoll_plan::Fault;
use plimsoll_plan::link::{Addresses, Reuse};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_stats::Hist;

/// How long Linux keeps a port after the side that closed first has closed (TCP_TIMEWAIT_LEN; no option changes it).
const TIME_WAIT_S: f64 = 60.0;
/// Number of closed connections below which a rate is meaningless.
const CLOSED_LEAST: u64 = 100;
/// "A few" is this share of the connections.
const FEW_SHARE: f64 = 0.10;

pub(super) fn connections(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(unfair(e));
    into.extend(not_reused(e));
    into.extend(few_ports(e));
    into.extend(unprocessed(e));
    into.extend(stream_limit(e));
}

/// Minimum share of the requests for a caution about HTTP/2 connections.
const STREAMS_SHARE: f64 = 0.01;

/// Requests that an HTTP/2 server handed back.
fn unprocessed(e: &Inputs) -> Option<Caution> {
    let http2 = e.client.connections.http2.as_ref()?;
    (http2.requests_unprocessed_ratio >= STREAMS_SHARE).then(|| {
        let evidence = Evidence::RequestsRetried {
            unprocessed_count: http2.requests_unprocessed,
            unprocessed_ratio: http2.requests_unprocessed_ratio,
            goaways_count: http2.goaways,
        };
        evidence.raise()
    })
}

/// Requests that waited for a stream because the server allows fewer than the plan.
fn stream_limit(e: &Inputs) -> Option<Caution> {
    let http2 = e.client.connections.http2.as_ref()?;
    let sent = e.facts.all.sum(SeriesSum::Sent);
    let waited_ratio = ratio(http2.requests_limited_by_streams as f64, sent as f64).min(1.0);
    (waited_ratio >= STREAMS_SHARE).then(|| {
        let evidence = Evidence::StreamsFull {
            waited_count: http2.requests_limited_by_streams,
            waited_ratio,
            streams_count: http2.streams_per_connection.into(),
        };
        evidence.raise()
    })
}

/// Users of the closed model with one connection each, all from the start: a fair service responds to them about
/// equally often. Jain's index (Jain, Chiu & Hawe 1984) is (sum x)^2 / (n sum x^2), about the share of connections
/// that were served. A reconnect would count as two connections, so then nothing is reported.
fn unfair(e: &Inputs) -> Option<Caution> {
    let closed = [RunSum::ClosedByServer, RunSum::ClosedByClient, RunSum::ClosedAfterError];
    let one = |m: &Machine| {
        let (plan, run) = (m.plan(), &m.origin.totals.run);
        let fixed = plan.load.profile().stages.is_empty() && plan.workloads.is_empty();
        let own = plan.link.reuse == Reuse::User && plan.requests.len() == 1;
        // Those that closed in the warm-up are in its ticks only; without them the count is not that of the users.
        let served = run.spread(RunHist::ConnRequests);
        let standing =
            closed.iter().all(|id| run.of(*id) == 0) && served.count() == run.of(RunSum::OpenAtEnd);
        (fixed && own && standing).then(|| served.clone())
    };
    if e.facts.is_open() || e.facts.has_streams() {
        return None;
    }
    let worst = e
        .facts
        .machines
        .iter()
        .filter_map(one)
        .filter(|served| served.count() >= e.limits.unfair_connections)
        .filter(|served| served.mean().unwrap_or(0.0) >= e.limits.unfair_requests)
        .map(|served| (jain(&served), served))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (index, served) = worst;
    (index < e.limits.unfair_index).then(|| {
        let few = (served.count() as f64 * FEW_SHARE).ceil().max(1.0) as u64;
        let evidence = Evidence::ConnectionsUnfair {
            few_count: few,
            connections_count: served.count(),
            few_requests_ratio: share_of_most(&served, few),
            requests_p50_count: served.quantile(0.5).unwrap_or(0),
            fairness_index: index,
        };
        evidence.raise()
    })
}

fn jain(served: &Hist) -> f64 {
    let (mean, deviation) = (served.mean().unwrap_or(0.0), served.std_dev().unwrap_or(0.0));
    ratio(mean * mean, mean * mean + deviation * deviation)
}

/// The part of the sum that the highest `n` values make up.
fn share_of_most(served: &Hist, n: u64) -> f64 {
    let buckets: Vec<(u64, u64, u64)> = served.buckets().collect();
    let (mut left, mut sum) = (n, 0.0);
    for (low, high, count) in buckets.into_iter().rev() {
        let taken = count.min(left);
        sum += f64::midpoint(low as f64, high as f64) * taken as f64;
        left -= taken;
    }
    ratio(sum, served.sum() as f64).min(1.0)
}

/// Connections should have stayed open, and the server ended them after one request, or so soon that making them is a
/// good part of what was measured.
fn not_reused(e: &Inputs) -> Option<Caution> {
    let plan = &e.facts.plan;
    let asked = plan.keep_alive
        && matches!(plan.link.reuse, Reuse::User | Reuse::Pool)
        && plan.link.requests_per_connection.is_none();
    let run = &e.facts.run;
    let (served, by_server) = (run.spread(RunHist::ConnRequests), run.of(RunSum::ClosedByServer));
    // Most of them, or it is a few that happened to be idle for too long.
    let by_rule = by_server >= e.limits.reused_closed && by_server.saturating_mul(2) >= served.count();
    if !asked || !by_rule || e.facts.has_streams() {
        return None;
    }
    let mean = |hist: &Hist| hist.mean().unwrap_or(0.0);
    let each = mean(served);
    let making_ns = mean(run.spread(RunHist::Connect)) + mean(run.spread(RunHist::Handshake));
    let serving_ns = mean(e.facts.all.hist(SeriesHist::Service)) * each;
    let cost = ratio(making_ns, making_ns + serving_ns);
    (each < e.limits.reused_least || cost > e.limits.reused_cost).then(|| {
        let evidence = Evidence::ConnectionsNotReused {
            closed_count: by_server,
            connections_count: served.count(),
            requests_mean: each,
            making_ns,
            making_ratio: cost,
        };
        evidence.raise()
    })
}

/// The side that closes first keeps the port for a minute, so a minute at this rate requires as many ports. On
/// loopback the kernel reuses them after a second (`net.ipv4.tcp_tw_reuse` is 2), which hides what happens on a
/// network.
fn few_ports(e: &Inputs) -> Option<Caution> {
    if e.facts.all.fault(Fault::PortsExhausted) > 0 {
        return None;
    }
    let one = |m: &Machine| {
        let (env, plan, run) = (&m.opening().environment, m.plan(), &m.origin.totals.run);
        let range = (u64::from(env.port_high) + 1).saturating_sub(env.port_low.into());
        if plan.link.route.unix_socket.is_some() {
            return None;
        }
        let sources = plan.link.source_addresses.len().max(1) as u64;
        let targets = match plan.link.addresses {
            Addresses::First => plan.origins.len().max(1) as u64,
            Addresses::All => env.addresses.len().max(1) as u64,
        };
        let room = range.saturating_mul(sources).saturating_mul(targets);
        let closed = [RunSum::ClosedByServer, RunSum::ClosedByClient, RunSum::ClosedAfterError]
            .iter()
            .fold(0u64, |sum, id| sum.saturating_add(run.of(*id)));
        let per_s = ratio(closed as f64, m.measured_ns as f64 / 1e9);
        let used = ratio(per_s * TIME_WAIT_S, room as f64);
        // An unreadable range is not a range of one port.
        (env.port_high > 0 && closed >= CLOSED_LEAST).then_some((used, per_s, room, env.is_same_machine))
    };
    let (used, per_s, room, same_machine) =
        e.facts.machines.iter().filter_map(one).max_by(|a, b| a.0.total_cmp(&b.0))?;
    if used <= e.limits.ports_used {
        return None;
    }
    let evidence = Evidence::PortsHeld {
        closed_per_s: per_s,
        held_count: per_s * TIME_WAIT_S,
        ports_count: room,
        is_same_machine: same_machine,
    };
    let caution = evidence.raise();
    Some(if same_machine { Caution { severity: Severity::Note, ..caution } } else { caution })
}
