//! Where the time went in a run that was too slow, from what the distribution, its parts and its course exclude.

use super::Case;
use crate::cause::{Cause, Claim, Evidence, Kind};
use crate::caution;
use crate::cells::Cells;
use crate::coordinated_omission::{arrivals_wait_ns, pulses, stalls, users};
use crate::facts::ratio;
use crate::offered::queues_in_service;
use crate::summary::SeriesRow;
use plimsoll_plan::Fault;
use plimsoll_plan::load::OnBusy;
use plimsoll_plan::metric::{RunHist, SeriesHist};
use plimsoll_stats::Hist;

/// A pause is longer than this, however fast the service is.
const PAUSE_NS: u64 = 25_000_000;
/// Factor above which a slower request is of another kind, or queued.
const SLOWER: f64 = 5.0;
/// Two speeds: each has this share of the responses at least, and hardly any lie between.
const SPEED: f64 = 0.015;
const BETWEEN: f64 = 0.1;
/// Minimum ratio between the two.
const APART: f64 = 3.0;
/// A request of this share of the responses is made by many users at a time.
const FREQUENT: f64 = 0.05;
/// This share of the time is most of it.
const MOST: f64 = 0.5;
/// Number of longest stalls that are examined to find their cause; two stalls of one pause differ by less than this.
const LOOKED_AT: usize = 10_000;
const ALIKE: f64 = 0.8;
/// All CPUs of a machine are in use.
const FULL: f64 = 0.95;
/// Bytes that TCP sends without waiting for an acknowledgement (RFC 6928: ten segments).
const FIRST_WINDOW: f64 = 14_600.0;

/// `hung`: a request or an address that was not answered while others were.
pub(super) fn slow(case: &Case, hung: Option<&str>, into: &mut Vec<Cause>) {
    // What waits for it is in flight all the time, so stalls and all that is missing say nothing of the others.
    let pauses = if hung.is_some() { None } else { pauses(case) };
    let has_pauses = pauses.is_some();
    let is_missed = case.is_slow();
    if is_missed || case.cautioned(caution::Kind::CoordinatedOmission) {
        into.extend(pauses);
    }
    if !is_missed {
        return;
    }
    let one = slow_request(case, hung);
    let is_one = one.is_some();
    into.extend(one);
    into.extend(slow_bodies(case));
    if !has_pauses && !is_one {
        into.extend(bimodal_latency(case));
    }
    if hung.is_none() {
        into.extend(open(case));
    }
    into.extend(not_reused(case));
    if hung.is_none() {
        into.extend(queueing(case));
    }
    if into.is_empty() {
        into.extend(server_processing(case));
    }
}

/// The whole service stalled, once or repeatedly.
fn pauses(case: &Case) -> Option<Cause> {
    let times = case.facts.all.hist(SeriesHist::Service);
    let median = usual_ns(case, times.quantile(0.5)?);
    let least = median.saturating_add(PAUSE_NS).max(median.saturating_mul(3));
    let (found, whole_ns) = stalls(case.facts, least);
    let silent_ns: f64 = found.iter().map(|(length, n)| length * n).sum();
    let n: f64 = found.iter().map(|(_, n)| n).sum();
    let share = ratio(silent_ns, whole_ns);
    if case.facts.has_streams() || share < 0.01 || silent_ns <= pulses(case.facts, |pulse| pulse.cpu_wait_ns)
    {
        return None;
    }
    // A timeout that all users wait for together is not a pause of the service.
    if case.facts.all.fault(Fault::Timeout) > 0 {
        return None;
    }
    let workers = case.s.client.workers.len().max(1) as f64;
    // What single slow requests cannot make: all that were slow were slow together.
    let slow = times.count_above(least) as f64;
    let together = match case.facts.is_open() {
        true => {
            let expected =
                found.iter().map(|(length, n)| (length - least as f64).max(0.0) * n).sum::<f64>() / whole_ns;
            let seen = ratio(slow, times.count() as f64);
            seen <= expected * 2.0 + 0.005
        }
        false => {
            let users = users(case.facts);
            users >= 2.0 * workers && slow <= n * users / workers * 1.5
        }
    };
    if !together {
        return None;
    }
    let evidence = Evidence::Pauses {
        longest_ns: case.facts.run.spread(RunHist::ServiceStall).max().unwrap_or(0),
        silent_ratio: share,
        arrivals_p99_ns: arrivals_wait_ns(&found, whole_ns, 0.01),
        spikes_from_s: case.s.spikes.iter().map(|spike| spike.from_s).collect(),
    };
    // A service that shares a saturated machine with the load generator stalls as well when other processes use its
    // CPUs.
    let is_full = case.is_local() && case.s.client.host_busy_ratio >= FULL;
    let is_whole = case.facts.is_open() || are_of_all(&found, case.s.client.workers.len().max(1));
    let is_fact = is_whole && !is_full;
    let claim = if is_fact { case.unless_cpu_short(Claim::Certain) } else { Claim::Possible };
    Some(Kind::ServiceStalls.claim(claim, evidence))
}

/// Each worker knows its own stalls. A pause of the service is one of all workers, so as many of them have the same
/// length; a service that takes the connections of one worker first makes single ones.
fn are_of_all(stalls: &[(f64, f64)], workers: usize) -> bool {
    let each = stalls.iter().rev().flat_map(|(length, n)| std::iter::repeat_n(*length, *n as usize));
    let lengths: Vec<f64> = each.take(LOOKED_AT).collect();
    let is_shared = |group: &&[f64]| group.len() == workers && group[workers - 1] >= group[0] * ALIKE;
    let shared: f64 = lengths.chunks(workers).filter(is_shared).flatten().sum();
    shared >= lengths.iter().sum::<f64>() * MOST
}

/// What a response takes while nothing is wrong, ns. Users in lockstep wait together for a request that is always
/// slow, and the service does not pause. Arrivals are never in lockstep.
fn usual_ns(case: &Case, median: u64) -> u64 {
    let rows = || case.s.requests.iter().filter(|row| !row.is_stream);
    let all: u64 = rows().fold(0, |sum, row| row.service_time.count.saturating_add(sum));
    // A rare request keeps few users at a time.
    let frequent = rows().filter(|row| row.service_time.count as f64 >= all as f64 * FREQUENT);
    let slowest = frequent.filter_map(|row| row.service_time.p50_ns).max();
    if case.facts.is_open() { median } else { slowest.unwrap_or(0).max(median) }
}

/// One of several requests is many times slower than all others.
fn slow_request(case: &Case, hung: Option<&str>) -> Option<Cause> {
    let rows: Vec<(&SeriesRow, u64)> = case
        .s
        .requests
        .iter()
        .filter(|row| !row.is_stream && hung != Some(row.name.as_str()))
        .filter_map(|row| Some((row, row.service_time.p50_ns?)))
        .collect();
    let (slowest, p50) = rows.iter().max_by_key(|(_, p50)| *p50)?;
    let rest = rows.iter().filter(|(row, _)| row.name != slowest.name).map(|(_, p50)| *p50).max()?;
    (*p50 as f64 > rest as f64 * SLOWER && *p50 > rest.saturating_add(1_000_000)).then(|| {
        let evidence = Evidence::SlowRequest {
            request: slowest.name.clone(),
            p50_ns: *p50,
            requests_count: slowest.requests,
            others_p50_ns: rest,
        };
        Kind::SlowRequest.claim(Claim::Certain, evidence)
    })
}

/// Most of the time passes after the first byte.
fn slow_bodies(case: &Case) -> Option<Cause> {
    let all = &case.facts.all;
    let (body, first) = (all.hist(SeriesHist::Body), all.hist(SeriesHist::FirstByte));
    let share = ratio(body.sum() as f64, (body.sum() + first.sum()) as f64);
    let (mean_ns, size) = (body.mean()?, all.hist(SeriesHist::BodySize).mean()?);
    if share < MOST || mean_ns < 1e6 {
        return None;
    }
    // A body that fits into what is sent at once needs no more than a moment of any link; on one machine there is none.
    let rtt_ns = case.s.client.rtt_min_ns.unwrap_or(0) as f64;
    let is_server = case.is_local() || size <= FIRST_WINDOW && mean_ns > 3.0 * rtt_ns;
    let evidence = Evidence::Bodies {
        body_ratio: share,
        body_bytes: size,
        body_ns: mean_ns,
        body_bytes_per_s: ratio(size, mean_ns / 1e9),
    };
    let claim = if is_server { case.unless_cpu_short(Claim::Certain) } else { Claim::Possible };
    Some(Kind::SlowBodies.claim(claim, evidence))
}

/// Two clusters of times with hardly anything between: as (below this, and above three times as much).
fn split(times: &Hist) -> Option<(u64, f64)> {
    let all = times.count() as f64;
    let mut best: Option<(u64, f64)> = None;
    for (low, _, _) in times.buckets() {
        let below = times.count_at_most(low) as f64 / all;
        let above = times.count_above((low as f64 * APART) as u64) as f64 / all;
        let between = 1.0 - below - above;
        let smaller = below.min(above);
        let is_split = smaller >= SPEED && between <= smaller * BETWEEN;
        if is_split && best.is_none_or(|(_, other)| between < other) {
            best = Some((low, between));
        }
    }
    best
}

fn bimodal_latency(case: &Case) -> Option<Cause> {
    let times = case.facts.all.hist(SeriesHist::Service);
    if times.count() < 100 {
        return None;
    }
    let (edge, _) = split(times)?;
    let above = times.count_above(edge);
    let share = above as f64 / times.count() as f64;
    let fast = times.quantile((1.0 - share) / 2.0)?;
    let slow = times.quantile(1.0 - share / 2.0)?;
    if slow < fast.saturating_add(5_000_000) {
        return None;
    }
    let evidence = Evidence::TwoSpeeds { slow_ratio: share, slow_ns: slow, fast_ns: fast };
    Some(Kind::BimodalLatency.claim(case.unless_cpu_short(Claim::Certain), evidence))
}

/// The open model: more was offered than came back.
fn open(case: &Case) -> Option<Cause> {
    let (s, offered) = (case.s, case.s.offered.as_ref()?);
    let grew = case.cautioned(caution::Kind::BacklogGrew);
    // A few that waited do not show that the rate is too high.
    let queued = offered.arrivals_queued.saturating_add(s.totals.arrivals_not_started);
    let waited = queued.saturating_mul(100) > offered.arrivals;
    if case.cautioned(caution::Kind::OfferedRateMissed) || !(grew || waited || case.missed("achieved")) {
        return None;
    }
    let (min, p50) = (s.service_time.min_ns? as f64, s.service_time.p50_ns? as f64);
    let evidence = Evidence::Offered {
        offered_per_s: offered.rate_per_s,
        achieved_per_s: s.achieved.rate_per_s,
        service_min_ns: min,
        service_p50_ns: p50,
        queued_count: offered.arrivals_queued,
    };
    let slower = queues_in_service(s.service_time.min_ns?, s.service_time.p50_ns?);
    // A service that is as fast as ever is not at its capacity: the users or the connections are.
    let plans = case.facts.machines.iter().flat_map(|machine| &machine.plan().workloads);
    let (mut initial_users_count, mut users_max_count) = (0, 0);
    for one in plans.filter(|one| one.load.is_open() && one.rules.on_busy == OnBusy::Drop) {
        initial_users_count += u64::from(one.rules.initial_users.unwrap_or(one.connections));
        users_max_count += u64::from(one.connections);
    }
    if waited && !slower && users_max_count > 0 {
        let evidence = Evidence::Dropped {
            dropped_count: s.totals.arrivals_not_started,
            arrivals_count: offered.arrivals,
            initial_users_count,
            users_max_count,
            service_min_ns: min,
            service_p50_ns: p50,
        };
        return Some(Kind::TooFewUsers.claim(case.unless_cpu_short(Claim::Likely), evidence));
    }
    if waited && !slower {
        return Some(Kind::ClientConnectionLimit.claim(case.unless_cpu_short(Claim::Likely), evidence));
    }
    let is_over = slower && (grew || waited || case.missed("achieved"));
    is_over.then(|| Kind::OverCapacity.claim(case.unless_cpu_short(Claim::Certain), evidence))
}

fn not_reused(case: &Case) -> Option<Cause> {
    let told = case.s.cautions.iter().find(|c| c.kind == caution::Kind::ConnectionsNotReused)?;
    Some(Kind::ConnectionsNotReused.claim(Claim::Certain, Evidence::Caution(told.evidence.clone())))
}

/// The closed model: the first requests reached an idle server and were many times faster than all later ones, which
/// took about equally long because they queued.
fn queueing(case: &Case) -> Option<Cause> {
    let s = case.s;
    if case.facts.is_open() {
        return None;
    }
    let times = &s.service_time;
    let (min, p50, p90) = (times.min_ns? as f64, times.p50_ns? as f64, times.p90_ns? as f64);
    let users = users(case.facts);
    (users >= 2.0 && p50 >= min * SLOWER && p90 <= p50 * 2.0 && p50 > 5e6).then(|| {
        let evidence = Evidence::Queue {
            users_count: users.round() as u64,
            p50_ns: p50,
            p90_ns: p90,
            min_ns: min,
            rate_per_s: s.achieved.rate_per_s,
        };
        Kind::Queueing.claim(case.unless_cpu_short(Claim::Likely), evidence)
    })
}

/// What is left when nothing else explains it: the time between the request and the first byte.
fn server_processing(case: &Case) -> Option<Cause> {
    let s = case.s;
    let all = &case.facts.all;
    let (body, first) = (all.hist(SeriesHist::Body), all.hist(SeriesHist::FirstByte));
    let share = ratio(first.sum() as f64, (body.sum() + first.sum()) as f64);
    let p50 = first.quantile(0.5)?;
    let rtt_ns = s.client.rtt_min_ns.unwrap_or(0);
    if share < MOST || p50 < rtt_ns.saturating_mul(2) {
        return None;
    }
    let evidence = Evidence::FirstByte {
        p50_ns: p50,
        p99_ns: first.quantile(0.99).unwrap_or(p50),
        round_trip_ns: rtt_ns,
        is_unexplained: !s.monitors.is_empty() && s.saturated_resources.is_empty(),
    };
    Some(Kind::ServerProcessing.claim(case.unless_cpu_short(Claim::Likely), evidence))
}
