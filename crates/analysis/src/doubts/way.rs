//! What was measured may be the way to the service instead of the service: a full link, lost attempts to connect, or
//! nothing but the distance.

use super::Inputs;
use crate::caution::Evidence;
use crate::caution::evidence::LateConnections;
use crate::cells::Cells;
use crate::facts::ratio;
use crate::summary::Caution;
use plimsoll_plan::metric::{RunFloor, RunHist, RunSum, SeriesHist, SeriesSum};

/// Number of parts of the run, to check whether bytes arrived evenly.
const PARTS: usize = 5;
/// Bytes are counted when a response is complete, so responses in flight at the edge of a part make it uneven. If
/// that may exceed this share, nothing is reported.
const GRAIN_MOST: f64 = 0.10;
/// Connection times this long are looked at as lost SYNs, in whole seconds.
const SYN_SECONDS: u64 = 7;
const SECOND_NS: u64 = 1_000_000_000;
/// The kernel's timers for SYNs run on its slowest wheel and may be early by a tick of it.
const SYN_EARLY_NS: u64 = 20_000_000;

pub(super) fn way(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(syn_retransmits(e));
    into.extend(network_saturated(e));
    into.extend(rtt_bound(e));
}

/// A SYN without a reply is retransmitted after 1 s, then after 2 s and 4 s more (RFC 6298, 2.1 and 5.5), or every
/// second for the first few times (Linux since 6.5). A connection made by one of them took k s plus the usual time.
/// The kernel counts retransmissions, so a service that is slow by whole seconds is not mistaken for this.
fn syn_retransmits(e: &Inputs) -> Option<Caution> {
    let floor_ns = e.facts.run.floor(RunFloor::ConnectNs)?;
    let times = e.facts.run.spread(RunHist::Connect);
    let within = |from_ns: u64, to_ns: u64| {
        times.count_at_most(to_ns).saturating_sub(times.count_at_most(from_ns.saturating_sub(1)))
    };
    // Half a second above the minimum is neither a usual connection time nor a timer.
    let long = times.count_above(floor_ns.saturating_add(SECOND_NS / 2));
    let clusters: Vec<LateConnections> = (1..=SYN_SECONDS)
        .map(|s| {
            let at_ns = floor_ns.saturating_add(s * SECOND_NS);
            let to_ns = at_ns.saturating_add(e.limits.syn_window_ns);
            let connections_count = within(at_ns.saturating_sub(SYN_EARLY_NS), to_ns);
            LateConnections { later_by_s: s, connections_count }
        })
        .filter(|cluster| cluster.connections_count > 0)
        .collect();
    let found: u64 = clusters.iter().map(|cluster| cluster.connections_count).sum();
    let share = ratio(found as f64, times.count() as f64);
    let enough = found >= e.limits.syn_least && share >= e.limits.syn_share;
    let clustered = found as f64 >= long as f64 * e.limits.syn_clustered;
    if !enough || !clustered || e.client.retransmits < found {
        return None;
    }
    let evidence = Evidence::ConnectionsLate {
        late_count: found,
        connections_count: times.count(),
        late_ratio: share,
        fastest_ns: floor_ns,
        by_second: clusters,
        resent_segments_count: e.client.retransmits,
    };
    Some(evidence.raise())
}

/// In the closed model, users receive as fast as they can, so bytes that arrive evenly while hardly anything else
/// takes time are limited by something. That this is a link, and not a server that creates or sends its bodies
/// slowly, shows when the queue of the link overflows: it drops segments, and those after the gap arrive out of
/// order.
fn network_saturated(e: &Inputs) -> Option<Caution> {
    let all = &e.facts.all;
    let out_of_order = e.facts.run.of(RunSum::SegmentsOutOfOrder);
    let (body_ns, first_ns) =
        (all.hist(SeriesHist::Body).sum() as f64, all.hist(SeriesHist::FirstByte).sum() as f64);
    let body = ratio(body_ns, body_ns + first_ns);
    let worker = e.client.workers.iter().map(|w| w.busy_ratio + w.cpu_wait_ratio).fold(0.0, f64::max);
    let may_be = users_wait(e)
        && !e.facts.has_streams()
        && out_of_order >= e.limits.link_out_of_order
        && body >= e.limits.link_body
        && worker <= e.limits.worker_busy;
    if !may_be {
        return None;
    }
    let whole = e.moments.iter().map(|m| &m.second).filter(|s| !s.is_warmup && s.length_s > 0.5);
    let seconds: Vec<(u64, f64)> = whole.map(|s| (s.bytes_in, s.length_s)).collect();
    let width = seconds.len() / PARTS;
    if width == 0 {
        return None;
    }
    let parts: Vec<f64> = seconds
        .chunks_exact(width)
        .take(PARTS)
        .map(|part| {
            let bytes: f64 = part.iter().map(|(bytes, _)| *bytes as f64).sum();
            ratio(bytes, part.iter().map(|(_, length_s)| length_s).sum())
        })
        .collect();
    let mean = ratio(parts.iter().sum(), parts.len() as f64);
    let uneven = parts.iter().map(|part| ratio((part - mean).abs(), mean)).fold(0.0, f64::max);
    // Of all that is in flight bytes may have come that are not counted yet.
    let answers = ratio(all.hist(SeriesHist::Body).count() as f64, PARTS as f64);
    let grain = ratio(1.0 + e.client.littles_law.in_flight_mean, answers);
    if mean <= 0.0 || grain > GRAIN_MOST || uneven > e.limits.link_flat.max(grain) {
        return None;
    }
    let per_s = ratio(all.sum(SeriesSum::BytesIn) as f64, e.facts.measured_s());
    let evidence = Evidence::NetworkSaturated {
        body_ratio: body,
        received_bytes_per_s: per_s,
        uneven_ratio: uneven,
        out_of_order_segments_count: out_of_order,
    };
    Some(evidence.raise())
}

/// In the closed model, N users that only wait for a round trip send N / RTT requests per second, no matter how fast
/// the service is. The round trip time is measured by the kernel, over empty segments and requests alike, so it is
/// below the minimum service time. On one machine or in one room it is too short to matter.
fn rtt_bound(e: &Inputs) -> Option<Caution> {
    let rtt_ns = e.client.rtt_min_ns.filter(|ns| *ns >= e.limits.round_trip_ns)?;
    let p50_ns = e.facts.all.hist(SeriesHist::Service).quantile(0.5)?;
    let is_one = p50_ns as f64 <= rtt_ns as f64 * e.limits.round_trips;
    if !is_one || !users_wait(e) || e.facts.has_streams() {
        return None;
    }
    let users = e.client.littles_law.users_mean.unwrap_or(0.0);
    let evidence = Evidence::RoundTrip {
        request_p50_ns: p50_ns,
        round_trip_ns: rtt_ns,
        users_count: users.round() as u64,
        limit_per_s: ratio(users, rtt_ns as f64 / 1e9),
    };
    Some(evidence.raise())
}

/// The closed model, with a request in flight for each user nearly all the time.
fn users_wait(e: &Inputs) -> bool {
    let law = &e.client.littles_law;
    let users = law.users_mean.unwrap_or(0.0);
    !e.facts.is_open() && users > 0.0 && law.in_flight_mean >= users * e.limits.users_waiting
}
