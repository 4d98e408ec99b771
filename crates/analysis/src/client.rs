//! The load generator's own account: the trust box.

use super::cells::Cells;
use super::dependence::Dependence;
use super::facts::{Facts, Machine, ratio, sum_of};
use super::little::little;
use super::rows;
use super::timeline::Moment;
use super::times::short;
use crate::caution::CautionLimits;
use crate::summary::{Client, Connections, ExpectContinue, Http2, TlsRow, WorkerRow};
use plimsoll_plan::Side;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesSum};

pub(super) fn client(
    facts: &Facts,
    moments: &[Moment],
    dependence: &Dependence,
    limits: &CautionLimits,
) -> Client {
    let run = &facts.run;
    Client {
        workers: workers(facts),
        steal_ratio: of_all_cpus(facts, RunSum::StealNs),
        host_busy_ratio: of_all_cpus(facts, RunSum::HostBusyNs),
        schedule_lag: short(run.spread(RunHist::ScheduleLag)),
        loop_time: short(run.spread(RunHist::LoopTime)),
        connections: connections(facts, moments, dependence),
        retransmits: run.of(RunSum::Retransmits),
        // The handshake is a round trip as well, and no acknowledgement is put off in it.
        rtt_min_ns: [run.floor(RunFloor::RttNs), run.floor(RunFloor::ConnectNs)].into_iter().flatten().min(),
        rtt: short(run.spread(RunHist::Rtt)),
        littles_law: little(facts, moments, limits),
        faults: rows::errors(&facts.all, |side| side == Side::Client),
        stalls: run.of(RunSum::Stalls),
        stalled_ns: run.of(RunSum::StalledNs),
        intervals_late: run.of(RunSum::IntervalsLate),
        in_flight_peak: at_most(facts, RunPeak::InFlight, true),
        arrivals_queued_peak: at_most(facts, RunPeak::ArrivalsQueued, false),
    }
}

/// `None` when the target is not `https`.
pub(super) fn tls(facts: &Facts) -> Option<TlsRow> {
    let (handshakes, resumed) = (facts.run.of(RunSum::Handshakes), facts.run.of(RunSum::HandshakesResumed));
    facts.plan.tls().map(|_| TlsRow {
        handshakes,
        resumptions: resumed,
        resumed_ratio: ratio(resumed as f64, handshakes as f64),
        handshake: short(facts.run.spread(RunHist::Handshake)),
    })
}

fn workers(facts: &Facts) -> Vec<WorkerRow> {
    let mut rows = Vec::new();
    for (origin, machine) in (0u32..).zip(&facts.machines) {
        for (worker, pulse) in (0u32..).zip(&machine.origin.workers) {
            let share = |ns: u64| ratio(ns as f64, pulse.wall_ns as f64);
            rows.push(WorkerRow {
                generator: origin,
                worker,
                busy_ratio: share(pulse.busy_ns),
                busy_poll_ratio: share(pulse.busy_poll_ns),
                idle_ratio: share(pulse.idle_ns),
                cpu_wait_ratio: share(pulse.cpu_wait_ns),
            });
        }
    }
    rows
}

/// A CPU time as a share of what all CPUs of all machines have.
fn of_all_cpus(facts: &Facts, id: RunSum) -> f64 {
    // The kernel's account is of all CPUs, this process's or not.
    let has = |m: &Machine| {
        let env = &m.opening().environment;
        f64::from(env.cpus_online.max(env.cpus)) * m.measured_ns as f64
    };
    ratio(facts.run.of(id) as f64, facts.machines.iter().map(has).sum()).min(1.0)
}

/// Workers know their own peak, and these need not fall on one moment: their number times the highest is an upper
/// bound for the machine, exact for one worker and for the closed model. Each has a connection, so that bounds it
/// too.
fn at_most(facts: &Facts, id: RunPeak, by_connections: bool) -> u64 {
    let of = |m: &Machine| {
        let peak = m.origin.totals.run.peak(id).saturating_mul(u64::from(m.plan().workers.max(1)));
        // A worker has one connection at least, and programs may open several for one user.
        let highest = m.origin.totals.run.peak(id).max(u64::from(m.plan().connections));
        if by_connections { peak.min(highest) } else { peak }
    };
    sum_of(facts.machines.iter().map(of))
}

fn connections(facts: &Facts, moments: &[Moment], dependence: &Dependence) -> Connections {
    let run = &facts.run;
    let served = run.spread(RunHist::ConnRequests);
    // Opened minus closed at the end of each second, over all workers; no single worker's peak may be above it.
    let open = moments.iter().map(|m| m.open.max(0) as u64).max().unwrap_or(0);
    Connections {
        attempts: run.of(RunSum::ConnAttempts),
        opened: run.of(RunSum::ConnOpened),
        reused_requests: run.of(RunSum::ConnReusedRequests),
        closed_by_server: run.of(RunSum::ClosedByServer),
        closed_by_client: run.of(RunSum::ClosedByClient),
        closed_after_error: run.of(RunSum::ClosedAfterError),
        open_at_end: run.of(RunSum::OpenAtEnd),
        peak: open.max(run.peak(RunPeak::Connections)),
        requests_per_connection_p50: served.quantile(0.5),
        requests_per_connection_max: served.max(),
        connect_min_ns: run.floor(RunFloor::ConnectNs),
        redirects_cross_host: run.of(RunSum::RedirectsCrossHost),
        dns_lookups_queued: run.of(RunSum::DnsQueued),
        http2: http2(facts, dependence),
        expect_continue: expect_continue(facts),
    }
}

fn expect_continue(facts: &Facts) -> Option<ExpectContinue> {
    facts.plan.deliveries.iter().find(|(_, delivery)| delivery.continue_ns.is_some())?;
    let run = &facts.run;
    Some(ExpectContinue {
        continued: run.of(RunSum::RequestsContinued),
        sent_without_continue: run.of(RunSum::RequestsNotContinued),
        refused_before_body: run.of(RunSum::RequestsRefusedEarly),
    })
}

fn http2(facts: &Facts, dependence: &Dependence) -> Option<Http2> {
    let plan = &facts.plan;
    if !plan.all_origins().iter().any(|origin| origin.is_http2) {
        return None;
    }
    let run = &facts.run;
    let sent = facts.all.sum(SeriesSum::Sent);
    let unprocessed = run.of(RunSum::RequestsUnprocessed);
    Some(Http2 {
        streams_per_connection: plan.link.streams,
        goaways: run.of(RunSum::GoAways),
        requests_unprocessed: unprocessed,
        requests_unprocessed_ratio: ratio(unprocessed as f64, sent as f64).min(1.0),
        streams_reset: run.of(RunSum::StreamsReset),
        requests_limited_by_streams: run.of(RunSum::StreamWaits),
        p99_design_effect: dependence.of_p99(),
    })
}
