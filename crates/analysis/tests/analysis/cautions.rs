//! Every caution is raised by its cause, and not without it.

use crate::analysis::fixture::*;
use plimsoll_analysis::caution::{CautionLimits, Kind};
use plimsoll_analysis::summarise_with;
use plimsoll_analysis::summary::{Outcome, Severity, Summary};
use plimsoll_plan::Fault;
use plimsoll_plan::link::{Http, Tls};
use plimsoll_plan::load::Arrivals;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum, status_id};
use plimsoll_record::event::{Ending, NoteKind, StoppedBy, WorkerTimes};
use std::collections::BTreeSet;

/// A case: the caution, its severity, a run that raises it, a counterpart that does not, and the expected texts of
/// evidence and advice.
pub struct Case {
    pub kind: Kind,
    pub weight: Severity,
    pub bad: Run,
    pub good: Run,
    pub says: &'static [&'static str],
}

pub fn check(case: Case) {
    let (bad, good) = (case.bad.summary(), case.good.summary());
    let code = case.kind.code();
    let found = caution(&bad, code).unwrap_or_else(|| panic!("`{code}` is missing: {:#?}", bad.cautions));
    assert_eq!(found.severity, case.weight, "{found:#?}");
    for text in case.says {
        let told = format!("{} | {} | {}", found.title(), found.evidence_text(), found.advice());
        assert!(told.contains(text), "`{text}` is not in `{told}`");
    }
    assert!(caution(&good, code).is_none(), "the counterpart has it too: {:#?}", caution(&good, code));
    // An interrupted run reports that before any caution.
    if bad.verdict.result != Outcome::Interrupted {
        assert_eq!(bad.verdict.result == Outcome::Inconclusive, has_doubt(&bad.cautions));
    }
    assert_ne!(good.verdict.result, Outcome::Inconclusive, "{}", good.verdict.sentence);
}

fn has_doubt(cautions: &[plimsoll_analysis::summary::Caution]) -> bool {
    cautions.iter().any(|c| c.severity == Severity::Inconclusive)
}

macro_rules! cases {
    ($($(#[$meta:meta])* $name:ident: $kind:ident, $weight:ident, $bad:expr, $good:expr, $says:expr;)*) => {
        $($(#[$meta])* #[test] fn $name() {
            use $crate::analysis::cautions::{Case, check};
            check(Case { kind: Kind::$kind, weight: Severity::$weight, bad: $bad, good: $good, says: &$says });
        })*

        /// The cautions that have a case here.
        pub const TESTED: &[Kind] = &[$(Kind::$kind,)*];
    };
}
pub(crate) use cases;

#[test]
fn every_caution_has_a_case() {
    let tested: BTreeSet<Kind> = [
        TESTED,
        crate::analysis::traps::TESTED,
        crate::analysis::watched::TESTED,
        crate::analysis::steered::TESTED,
    ]
    .concat()
    .into_iter()
    .collect();
    let missing: Vec<&Kind> = Kind::ALL.iter().filter(|kind| !tested.contains(kind)).collect();
    // These need two runs; they are tested below and in `merged`.
    assert_eq!(missing, [&Kind::MergedRunsNotConcurrent, &Kind::MergedTargetsDiffer]);
}

cases! {
    descriptors_that_ran_out_are_this_machines_limit: ClientFdLimit, Inconclusive,
        Run::closed(15).at(3, |t| fail(t, Fault::FdLimit, 44)),
        Run::closed(15).at(3, |t| fail(t, Fault::ConnectionRefused, 44)),
        ["44 attempts", "soft limit 256", "hard limit 256", "ulimit -Hn 65536"];

    local_ports_that_ran_out_are_this_machines_limit: ClientPortsExhausted, Inconclusive,
        Run::closed_with(15, |d| d.keep_alive = Some(false)).at(3, |t| fail(t, Fault::PortsExhausted, 1_204)),
        Run::closed_with(15, |d| d.keep_alive = Some(false)),
        ["1,204 attempts", "32768-60999", "28,232 ports", "keep connections open", "\"1024 65535\""];

    descriptors_that_ran_out_in_the_warm_up_are_this_machines_limit: ClientFdLimit, Inconclusive,
        Run::closed_with(15, |d| d.warmup_ns = Some(5 * S)).at(0, |t| fail(t, Fault::FdLimit, 44)),
        Run::closed_with(15, |d| d.warmup_ns = Some(5 * S)).at(0, |t| fail(t, Fault::ConnectionRefused, 44)),
        ["44 attempts"];

    a_range_of_ports_that_nobody_could_read_is_not_one_port: ClientPortsExhausted, Inconclusive,
        Run::closed(15).at(3, |t| fail(t, Fault::PortsExhausted, 7)).with(|r| {
            (r.environment.port_low, r.environment.port_high) = (0, 0);
        }),
        Run::closed(15),
        ["7 attempts", "unknown port range"];

    times_that_do_not_make_the_requests_in_flight_are_doubted: LittlesLaw, Warning,
        Run::open(15).all_ticks(|t| t.run.add(RunSum::InFlightNs.id(), 2 * S)),
        // Requests that ended in a failure were in flight as well.
        Run::open(15).all_ticks(|t| {
            t.run.add(RunSum::InFlightNs.id(), 2 * S);
            (0..20).for_each(|_| t.series[0].record(SeriesHist::FailedService.id(), 100 * MS));
        }),
        ["7.0 requests in flight measured, 5.0 computed (throughput × service time)"];

    no_memory_for_sockets_is_this_machines_limit: ClientOutOfMemory, Inconclusive,
        Run::closed(15).at(0, |t| fail(t, Fault::ClientOutOfMemory, 1)),
        Run::closed(15),
        ["1 attempt failed", "tcp_mem"];

    a_limit_of_ours_is_not_the_servers_fault: ClientLimit, Inconclusive,
        Run::closed(15).at(0, |t| fail(t, Fault::ClientLimit, 2)),
        Run::closed(15),
        ["2 responses exceeded a limit", "--limit NAME=VALUE"];

    an_origin_without_permission_is_not_the_servers_fault: OriginRefused, Inconclusive,
        Run::closed(15).at(0, |t| fail(t, Fault::OriginRefused, 4)),
        Run::closed(15),
        ["4 requests to origins without permission", "--allow HOST"];

    an_invalid_request_is_not_the_servers_fault: InvalidRequest, Inconclusive,
        Run::closed(15).at(0, |t| fail(t, Fault::InvalidRequest, 4)),
        Run::closed(15),
        ["4 requests could not be sent", "correct the URL"];

    a_firewall_here_is_not_the_servers_fault: ClientSendRefused, Inconclusive,
        Run::closed(15).at(0, |t| fail(t, Fault::ClientSendRefused, 9)),
        Run::closed(15),
        ["9 attempts failed", "firewall"];

    a_generator_that_stood_still_saw_nothing_meanwhile: ClientStalled, Warning,
        Run::closed(15).at(3, |t| { t.run.add(RunSum::Stalls.id(), 2); t.run.add(RunSum::StalledNs.id(), 2 * S); }),
        Run::closed(15).at(3, |t| { t.run.add(RunSum::Stalls.id(), 1); t.run.add(RunSum::StalledNs.id(), S / 8); }),
        ["2 stalls", "100 ms"];

    unexpected_bytes_are_reported: UnexpectedBytes, Warning,
        Run::closed(15).at(3, |t| t.run.add(RunSum::UnexpectedBytes.id(), 7)),
        Run::closed(15),
        ["7 responses"];

    nothing_but_redirects_is_told_with_where_they_lead: RedirectsNotFollowed, Warning,
        Run::closed(15).all_ticks(|t| redirected(t, 2_000)),
        Run::closed(15).all_ticks(|t| redirected(t, 1_999)),
        ["302 x 30,000, not followed", "--follow 3"];

    a_run_without_an_end_was_cut_off: IncompleteRecord, Inconclusive,
        Run::closed(15).with(|r| { r.ending = None; r.ticks.truncate(9); }),
        Run::closed(15),
        ["9 s to 15 s", "ended early"];

    seconds_that_nobody_handed_over_are_missing: IncompleteRecord, Inconclusive,
        Run::closed(15).with(|r| { r.ticks.drain(4..6); }),
        Run::closed(15),
        ["4 s to 6 s"];

    a_gap_of_the_disk_is_a_warning_because_the_totals_are_whole: IncompleteRecord, Warning,
        Run::closed(15).with(|r| { r.ticks.drain(4..6); }).note(4 * S, NoteKind::Gap, "the disk was full"),
        Run::closed(15),
        ["4 s to 6 s", "the disk was full", "missing from the timeline"];

    a_worker_that_died_makes_the_record_incomplete: IncompleteRecord, Inconclusive,
        Run::closed(15).with(|r| r.ending = Some(Ending {
            stopped_by: StoppedBy::Duration, elapsed_ns: 15 * S, lost_workers: vec!["worker 1: no epoll".into()],
        })),
        Run::closed(15),
        ["1 worker died", "no epoll"];

    a_service_that_never_answers_leaves_nothing_to_measure: NoRequests, Inconclusive,
        Run::closed(15).with(|r| { r.ticks.clear(); r.fill(|_| {}); }).at(14, |t| under_way(t, 10, 15 * S)),
        Run::closed(15),
        ["no request completed in 15 s", "10 sent", "10 in flight"];

    a_run_that_ends_in_its_warm_up_measured_nothing: NoRequests, Inconclusive,
        Run::closed_with(15, |d| d.warmup_ns = Some(5 * S)).with(|r| r.ticks.truncate(3))
            .ends(StoppedBy::Interrupt, 3 * S),
        Run::closed_with(15, |d| d.warmup_ns = Some(5 * S)),
        ["during the warmup"];

    arrivals_that_never_came_due_lower_the_offered_rate: OfferedRateMissed, Inconclusive,
        Run::open_with(15, |d| d.load.rate_per_s = Some(1_020.0)),
        Run::open_with(15, |d| d.load.rate_per_s = Some(1_005.0)),
        ["of 15,300 arrivals", "not sent"];

    chance_makes_poisson_arrivals_fewer_than_planned: OfferedRateMissed, Inconclusive,
        Run::open_with(15, |d| { d.load.rate_per_s = Some(1_080.0); d.load.arrivals = Some(Arrivals::Poisson); }),
        Run::open_with(15, |d| { d.load.rate_per_s = Some(1_020.0); d.load.arrivals = Some(Arrivals::Poisson); }),
        ["of 16,200 arrivals"];

    arrivals_that_wait_while_the_worker_is_busy_are_not_the_servers_fault: OfferedRateMissed, Inconclusive,
        queued(200).with(|r| r.pulse = WorkerTimes { wall_ns: S, busy_ns: S * 99 / 100, ..WorkerTimes::default() }),
        queued(200),
        ["200 of 15,000 arrivals (1.3%)", "99% of the time"];

    late_sends_of_a_tenth_of_the_response_time_are_the_generators: LateSends, Warning,
        Run::open(15).all_ticks(|t| (0..20).for_each(|_| t.run.record(RunHist::ScheduleLag.id(), 2 * MS))),
        Run::open(15).all_ticks(|t| (0..20).for_each(|_| t.run.record(RunHist::ScheduleLag.id(), MS - 1))),
        ["p99 schedule lag 2.00 ms", "p99 of 5.9"];

    late_sends_are_judged_by_the_response_time_that_they_spoil: LateSends, Warning,
        Run::open(15).all_ticks(|t| (0..20).for_each(|_| t.run.record(RunHist::ScheduleLag.id(), 2 * MS))),
        Run::open(15).with(|r| r.ticks.clear()).with(|r| r.fill(|t| {
            t.run.add(RunSum::Arrivals.id(), 1_000);
            answers(t, 0, 1_000, 50 * MS);
            (0..1_000).for_each(|_| t.run.record(RunHist::ScheduleLag.id(), 2 * MS));
        })),
        ["p99 schedule lag"];

    a_deciding_percentile_needs_samples: TooFewSamples, Inconclusive,
        Run::closed(15).thresholds(&["response_time p99.99 < 1s"]),
        Run::closed(15).thresholds(&["response_time p99.9 < 1s"]),
        ["30,000 samples for response_time p99.99", "needs 100,000"];

    a_printed_percentile_with_few_samples_is_a_note: TooFewSamples, Note,
        Run::closed(2),
        Run::closed(15),
        ["4,000 samples for response_time p99.9", "needs 10,000"];

    time_outs_make_lower_bounds: CensoredByTimeouts, Warning,
        Run::closed(15).at(12, |t| time_out(t, 400, 10 * S)),
        Run::closed(15),
        ["400 timeouts (1.3% of the requests)", "after 10 s", "from p99 up are lower bounds"];

    few_time_outs_touch_the_maximum_only: CensoredByTimeouts, Warning,
        Run::closed(15).at(12, |t| time_out(t, 2, 10 * S)),
        Run::closed(15),
        ["2 timeouts", "the maximum is a lower bound"];

    a_stall_hides_in_a_closed_model: CoordinatedOmission, Warning,
        Run::closed(15).at(4, stall).at(9, stall),
        Run::open(15).at(4, stall).at(9, stall),
        ["0.1% of the requests (20, each above 50.0 ms)", "12% of the users' time",
         "all users waited at once for up to 1.00 s", "p99 would be at least 9", "not 5", "-r RATE"];

    a_stall_too_small_to_matter_hides_nothing: CoordinatedOmission, Warning,
        Run::closed(15).at(4, stall),
        Run::closed(15).at(4, |t| stall_of(t, 60 * MS)),
        ["users' time"];

    the_few_milliseconds_for_which_a_machine_holds_a_process_up_hide_nothing: CoordinatedOmission, Warning,
        Run::closed(15).all_ticks(|t| stall_of(t, 200 * MS)),
        // A fifth of the time, in stalls of 20 ms.
        Run::closed(15).all_ticks(|t| (0..10).for_each(|_| stall_of(t, 20 * MS))),
        ["users' time"];

    requests_that_are_slow_one_by_one_hide_nothing: CoordinatedOmission, Warning,
        Run::closed(15).at(4, stall).at(9, stall),
        // The same times, while other requests completed.
        Run::closed(15).at(4, slow_alone).at(9, slow_alone),
        ["users' time"];

    a_machine_that_took_the_cpu_may_have_made_the_silence: CoordinatedOmission, Warning,
        Run::closed(15).at(4, stall).at(9, stall),
        Run::closed(15).at(4, stall).at(9, stall).with(|run| run.pulse.cpu_wait_ns = S / 5),
        ["users' time"];

    slow_requests_that_are_many_hide_nothing: CoordinatedOmission, Warning,
        Run::closed(15).at(4, stall),
        // 30% take 60 times as long: they use four fifths of the time, and the percentiles above p70 show it.
        Run::closed(15).all_ticks(|t| (0..860).for_each(|_| answer(t, 0, 300 * MS, 200))),
        ["arrivals at random times"];

    requests_that_the_server_did_not_process_were_retried: RequestsUnprocessed, Warning,
        over_http2().all_ticks(|t| t.run.add(RunSum::RequestsUnprocessed.id(), 100)),
        // One in a thousand, as at the end of a connection.
        over_http2().all_ticks(|t| t.run.add(RunSum::RequestsUnprocessed.id(), 1)),
        ["1,500 requests", "retried", "keepalive_requests"];

    a_server_that_allows_few_streams_makes_requests_wait: StreamLimitReached, Warning,
        over_http2().all_ticks(|t| t.run.add(RunSum::StreamWaits.id(), 500)),
        over_http2().all_ticks(|t| t.run.add(RunSum::StreamWaits.id(), 1)),
        ["7,500 requests", "fewer than 10 on a connection", "`--streams`"];

    arrivals_without_a_connection_wait: ConnectionLimitReached, Warning,
        queued(20),
        Run::open(15),
        ["300 arrivals found all 1,000 connections in use", "p99 wait 40", "20 still waited at the end",
         "raise `--max-connections` (for example to 2000"];

    arrivals_behind_a_service_that_hangs_never_get_a_connection: ConnectionLimitReached, Warning,
        Run::open(15).at(14, |t| {
            under_way(t, 1_000, 14 * S);
            t.run.add(RunSum::ArrivalsNotStarted.id(), 9_000);
        }),
        // Fewer connections than allowed are in use: arrivals without one were still connecting.
        Run::open(15).at(14, |t| {
            under_way(t, 900, 14 * S);
            t.run.add(RunSum::ArrivalsNotStarted.id(), 90);
        }),
        ["9,000 still waited at the end"];

    a_time_out_while_connecting_has_its_own_length: CensoredByTimeouts, Warning,
        Run::closed_with(15, |d| d.timeout_ns = Some(2 * S)).at(12, |t| fail(t, Fault::ConnectTimeout, 4)),
        Run::closed(15),
        ["4 timeouts", "4 of them while connecting", "after 10 s"];

    the_samples_of_a_first_byte_are_its_own: TooFewSamples, Warning,
        Run::closed(15).thresholds(&["time_to_first_byte p99.99 < 1s"]).at(3, |t| time_out(t, 10, 10 * S)),
        Run::closed(15).thresholds(&["time_to_first_byte p99 < 1s"]),
        ["30,000 samples for time_to_first_byte p99.99"];

    users_who_wait_for_the_generator_break_littles_law: LittlesLaw, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::UsersNs.id(), 2 * S)),
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::UsersNs.id(), S)),
        ["17% of their time outside"];

    connecting_explains_time_outside_requests: LittlesLaw, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::UsersNs.id(), 2 * S)),
        Run::closed(15).all_ticks(|t| {
            t.run.add(RunSum::UsersNs.id(), 2 * S);
            (0..2_000).for_each(|_| t.run.record(RunHist::Connect.id(), MS));
        }),
        ["outside requests"];

    pauses_after_refused_attempts_explain_time_outside_requests: LittlesLaw, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::UsersNs.id(), 2 * S)),
        Run::closed(15)
            .all_ticks(|t| { t.run.add(RunSum::UsersNs.id(), 2 * S); fail(t, Fault::ConnectionRefused, 2); }),
        ["outside requests"];

    users_without_work_at_the_end_of_a_counted_run_break_no_law: LittlesLaw, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::UsersNs.id(), 2 * S)).ends(StoppedBy::Requests, 15 * S),
        Run::closed(15)
            .with(|r| for tick in &mut r.ticks[11..] {
                let number = tick.tick;
                *tick = Run::planned(|_| {}).blank(number);
                tick.run.add(RunSum::UsersNs.id(), 10 * S);
                tick.run.add(RunSum::InFlightNs.id(), S);
            })
            .ends(StoppedBy::Requests, 15 * S),
        ["outside requests"];

    a_worker_without_room_may_be_the_limit: ClientCpuSaturated, Warning,
        Run::closed(15).with(|r| r.pulse.busy_ns = S * 95 / 100),
        // Busy-polling is waiting: a precise load generator is not a busy one.
        Run::closed(15).with(|r| r.pulse.busy_poll_ns = S * 95 / 100),
        ["worker 0", "95%"];

    workers_that_wait_for_a_cpu_are_disturbed: ClientCpuWait, Warning,
        Run::closed(15).with(|r| r.pulse.cpu_wait_ns = S * 12 / 100),
        Run::closed(15).with(|r| r.pulse.cpu_wait_ns = S * 9 / 100),
        ["12% of the time"];

    stolen_time_is_named: CpuSteal, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::StealNs.id(), S * 12 / 100)),
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::StealNs.id(), S * 8 / 100)),
        ["6% of all CPU time"];

    lost_packets_are_named: Retransmits, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::Retransmits.id(), 4)),
        Run::closed(15).at(4, |t| t.run.add(RunSum::Retransmits.id(), 25)),
        ["60 segments retransmitted in 30,000 requests (0.2%)"];

    a_handful_of_retransmits_proves_nothing: Retransmits, Warning,
        short_open(10),
        short_open(9),
        ["10 segments"];

    a_keep_alive_race_is_named_with_the_idle_time: StaleConnections, Warning,
        Run::closed(15).at(7, |t| {
            fail(t, Fault::StaleConnection, 3);
            t.run.record(RunHist::IdleBeforeClose.id(), 5_001 * MS);
        }),
        Run::closed(15).at(7, |t| fail(t, Fault::ConnectionReset, 3)),
        ["3 requests", "after 5.00 s to 5.00 s idle", "--no-keepalive"];

    a_mean_above_p95_is_not_a_middle: MeanAboveP95, Warning,
        Run::open(15).all_ticks(|t| (0..30).for_each(|_| answer(t, 0, 500 * MS, 200))),
        Run::open(15).all_ticks(|t| (0..300).for_each(|_| answer(t, 0, 500 * MS, 200))),
        ["mean 19.4 ms, p95 5.95 ms"];

    a_target_on_this_machine_is_named: SameMachine, Note,
        Run::closed(15).with(|r| r.environment.is_same_machine = true),
        Run::closed(15),
        ["10.0.0.7 is a local address"];

    an_unverified_certificate_is_reported: CertificateNotVerified, Note,
        Run::closed(15).with(|r| r.outline.link.tls = Some(tls(true))),
        Run::closed(15).with(|r| r.outline.link.tls = Some(tls(false))),
        ["any certificate was accepted for shop.example"];

    many_requests_under_way_at_the_stop_are_told: CensoredAtEnd, Note,
        Run::closed(15).at(14, |t| under_way(t, 400, 5 * MS)),
        Run::closed(15).at(14, |t| under_way(t, 10, 5 * MS)),
        ["400 requests in flight", "compared with 30,000 completed"];

    a_few_seconds_are_a_short_run: ShortRun, Note,
        Run::closed(9),
        Run::closed(10),
        ["9 s measured"];

    answers_that_shrank_in_the_middle_are_two_experiments: ResponseChanged, Warning,
        Run::closed(15).with(|r| r.ticks[9..].iter_mut().for_each(|t| sizes(t, |_| 80))),
        Run::closed(15).with(|r| r.ticks.iter_mut().for_each(|t| sizes(t, |i| 100 + i * 7919 % 200))),
        ["`pick`", "200 bytes", "80.0 bytes since 9 s", "60% less"];

    sizes_that_vary_from_second_to_second_have_not_changed: ResponseChanged, Warning,
        Run::closed(15).with(|r| r.ticks[5..].iter_mut().for_each(|t| sizes(t, |_| 900))),
        Run::closed(15).with(|r| r.ticks.iter_mut().for_each(|t| {
            let bytes = 100 + u64::from(t.tick) * 7919 % 13 * 20;
            sizes(t, |_| bytes);
        })),
        ["900 bytes since 5 s"];

    answers_of_another_shape_are_two_experiments: ResponseChanged, Warning,
        Run::closed(15).at(8, |t| t.series[0].add(SeriesSum::ShapeChanges.id(), 10)),
        Run::closed(15).all_ticks(|t| t.series[0].add(SeriesSum::ShapeChanges.id(), 900)),
        ["`pick`", "one shape until 8 s", "10 differed"];

    a_label_for_everything_is_told: TooManySeries, Warning,
        Run::closed(15).all_ticks(|t| t.run.add(RunSum::SeriesRejected.id(), 66_000)),
        Run::closed(15),
        ["990,000 lookups beyond the limit of 10,000 series"];

    values_without_a_meaning_are_told: ValuesRejected, Warning,
        Run::closed(15).at(3, |t| t.run.add(RunSum::ValuesRejected.id(), 1)),
        Run::closed(15),
        ["1 value"];

    event_streams_that_were_only_responses_are_told: EventStreamsAsResponses, Warning,
        Run::closed(15).at(3, |t| t.run.add(RunSum::EventStreamsAsResponses.id(), 1)),
        Run::closed(15),
        ["1 of "];

    rows_not_written_are_reported: RowsNotWritten, Warning,
        Run::closed(15).at(3, |t| t.run.add(RunSum::RowsNotWritten.id(), 4)),
        Run::closed(15),
        ["4 rows"];

    iterations_left_for_a_missing_value_are_told: IterationsAbandoned, Warning,
        Run::closed(15).at(3, |t| t.run.add(RunSum::IterationsAbandoned.id(), 4)),
        Run::closed(15).at(3, |t| {
            t.run.add(RunSum::IterationsAbandoned.id(), 4);
            t.series[0].add(SeriesSum::Failed.id(), 4);
        }),
        ["4 iterations abandoned, 0 requests failed"];

    exhausted_data_is_reported: DataExhausted, Note,
        Run::closed(15).at(3, |t| t.run.add(RunSum::UsersOutOfData.id(), 1)),
        Run::closed(15),
        ["1 user ended early"];

    an_interrupt_is_told: StoppedEarly, Note,
        Run::closed(30).with(|r| r.ticks.truncate(15)).ends(StoppedBy::Interrupt, 15 * S),
        Run::closed(15),
        ["after 15 s of 30 s"];

    the_circuit_breaker_is_told_in_its_own_words: StoppedEarly, Note,
        Run::closed(30).with(|r| r.ticks.truncate(15)).ends(StoppedBy::Command, 15 * S)
            .note(15 * S, NoteKind::Control, "stopped by the circuit breaker"),
        Run::closed(15).ends(StoppedBy::Requests, 15 * S),
        ["after 15 s of 30 s: stopped by the circuit breaker"];
}

/// The same number of bodies, of different sizes.
/// Makes this many of the responses redirects.
fn redirected(tick: &mut plimsoll_stats::Interval, n: u64) {
    let cells = &mut tick.series[0];
    cells.sums[status_id(200)] -= n;
    cells.add(status_id(302), n);
}

fn tls(insecure: bool) -> Tls {
    Tls { server_name: "shop.example".into(), insecure, ..Tls::default() }
}

fn sizes(tick: &mut plimsoll_stats::Interval, bytes_of: impl Fn(u64) -> u64) {
    let bodies = &mut tick.series[0].hists[SeriesHist::BodySize.id()];
    let count = bodies.count();
    bodies.clear();
    (0..count).for_each(|i| bodies.record(bytes_of(i)));
}

/// The ten users meet a pause of one second.
fn stall(tick: &mut plimsoll_stats::Interval) {
    stall_of(tick, S);
}

/// All ten users waited in it.
fn stall_of(tick: &mut plimsoll_stats::Interval, length_ns: u64) {
    (0..10).for_each(|_| answer(tick, 0, length_ns, 200));
    tick.run.record(RunHist::ServiceStall.id(), length_ns);
}

/// The ten users wait at different times.
fn slow_alone(tick: &mut plimsoll_stats::Interval) {
    (0..10).for_each(|_| answer(tick, 0, S, 200));
}

/// A run over HTTP/2, with ten users on each connection.
fn over_http2() -> Run {
    Run::closed_with(15, |d| {
        (d.link.http, d.link.is_http2, d.link.streams) = (Http::V2, true, 10);
    })
}

/// Twenty arrivals per second wait for a connection, and some never get one.
fn queued(never: u64) -> Run {
    Run::open(15)
        .all_ticks(|t| {
            t.run.add(RunSum::ArrivalsQueued.id(), 20);
            (0..20).for_each(|_| t.run.record(RunHist::ConnWait.id(), 40 * MS));
        })
        .at(14, move |t| {
            t.run.add(RunSum::ArrivalsNotStarted.id(), never);
            (0..never).for_each(|_| t.series[0].record(SeriesHist::ResponseCensored.id(), 40 * MS));
        })
}

/// 1,000 requests with some retransmitted segments.
fn short_open(retransmits: u64) -> Run {
    let mut run = Run::open(1);
    run.tick(0).run.add(RunSum::Retransmits.id(), retransmits);
    run
}

#[test]
fn a_healthy_run_has_no_cautions() {
    for run in [Run::closed(15), Run::open(15)] {
        let summary = run.summary();
        assert!(summary.cautions.is_empty(), "{:#?}", summary.cautions);
        assert!(summary.is_complete);
    }
}

#[test]
fn cautions_are_sorted_by_severity() {
    let summary = Run::closed(5)
        .with(|r| r.environment.is_same_machine = true)
        .with(|r| r.pulse.busy_ns = S)
        .at(1, |t| fail(t, Fault::PortsExhausted, 1))
        .at(1, |t| fail(t, Fault::FdLimit, 1))
        .summary();
    let weights: Vec<Severity> = summary.cautions.iter().map(|c| c.severity).collect();
    assert!(weights.is_sorted(), "{weights:?}");
    assert_eq!(summary.cautions[0].kind, Kind::ClientFdLimit);
    assert_eq!(summary.cautions[1].kind, Kind::ClientPortsExhausted);
    assert!(summary.cautions.len() >= 5);
}

#[test]
fn an_unreached_connection_limit_is_not_blamed_for_missing_file_descriptors() {
    let summary = queued(0).at(3, |t| fail(t, Fault::FdLimit, 10)).summary();
    assert!(caution(&summary, "client_fd_limit").is_some());
    assert!(caution(&summary, "connection_limit_reached").is_none());
}

#[test]
fn a_steered_run_is_not_compared_with_its_plan() {
    let half = |run: Run| {
        run.with(|r| {
            r.outline.load = plimsoll_plan::load::Load::Open {
                rate_per_s: profile(2_000.0, &[]),
                arrivals: Arrivals::Constant,
            }
        })
    };
    assert!(caution(&half(Run::open(15)).summary(), "offered_rate_missed").is_some());
    let steered = half(Run::open(15)).note(3 * S, NoteKind::Control, "the rate was set to 1,000/s");
    assert!(caution(&steered.summary(), "offered_rate_missed").is_none());
}

#[test]
fn a_ramp_offers_the_area_below_it() {
    // 0 to 2,000/s within 10 s, then 5 s at 2,000/s: 10,000 + 10,000 arrivals.
    let ramp = |arrivals: u64| {
        let mut run =
            Run::planned(|d| d.load.stages = Some((profile(0.0, &[(10, 2_000.0), (5, 2_000.0)]), true)));
        run.fill(|tick| {
            tick.run.add(RunSum::Arrivals.id(), arrivals / 15);
            answers(tick, 0, arrivals / 15, 5 * MS);
        });
        run.summary()
    };
    assert!(caution(&ramp(19_995), "offered_rate_missed").is_none());
    let short = ramp(19_500);
    assert!(caution(&short, "offered_rate_missed").unwrap().evidence_text().contains("of 20,000 arrivals"));
}

#[test]
fn a_number_of_requests_limits_the_offered_load() {
    // 1,000/s for 10,000 requests: the run ends with the last response, not at the edge of a tick.
    let mut run = Run::open_with(15, |d| d.load.requests_total = Some(10_000));
    run.ticks.truncate(11);
    let last = run.blank(10);
    run.ticks[10] = last;
    let summary = run.ends(StoppedBy::Requests, 10 * S + 5 * MS).summary();
    assert!(caution(&summary, "offered_rate_missed").is_none(), "{:#?}", summary.cautions);
    assert_eq!(summary.achieved.ratio, Some(1.0));
}

#[test]
fn every_limit_of_a_caution_can_be_set() {
    let strict = CautionLimits { short_ns: 60 * S, worker_busy: 0.1, ..CautionLimits::default() };
    let record = Run::closed(15).record();
    let summary = summarise_with(&record, &strict);
    assert!(caution(&summary, "short_run").is_some());
    assert!(caution(&summary, "client_cpu_saturated").is_some());
}

#[test]
fn the_table_is_complete_and_its_codes_are_unique() {
    let codes: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), Kind::ALL.len());
    for kind in Kind::ALL {
        assert!(!kind.title().is_empty() && !kind.advice().is_empty());
        assert_eq!(Kind::of_code(kind.code()), Some(*kind));
    }
}

#[test]
fn retransmits_are_relative_to_sent_requests() {
    // The denominator of the retransmits is the number of sent requests, not of completed ones.
    let summary = Run::closed(15)
        .all_ticks(|t| t.run.add(RunSum::Retransmits.id(), 1))
        .at(0, |t| t.series[0].add(SeriesSum::Sent.id(), 100_000))
        .summary();
    assert!(caution(&summary, "retransmits").is_none());
}

/// The backlog grows in front of ten connections: 100 of 1,000 arrivals per second more wait each second. The service
/// takes 5 ms as ever, or five times as long.
fn growing(service_ns: u64) -> Summary {
    let mut run = Run::planned(|d| {
        (d.load.rate_per_s, d.load.duration_ns) = (Some(1_000.0), Some(15 * S));
    });
    run.fill(|_| {});
    let run = (0..15u64).fold(run, |run, second| {
        run.at(second as usize, move |tick| {
            tick.run.add(RunSum::Arrivals.id(), 1_000);
            tick.run.add(RunSum::ArrivalsQueued.id(), 900);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
            (0..900).for_each(|_| tick.run.record(RunHist::ConnWait.id(), second * 100 * MS));
            answers(tick, 0, 900, service_ns);
            // The fastest ones are as fast as ever.
            (0..10).for_each(|_| answer(tick, 0, 5 * MS, 200));
            let response = &mut tick.series[0].hists[SeriesHist::Response.id()];
            response.clear();
            (0..910).for_each(|_| response.record(second * 100 * MS + service_ns));
        })
    });
    run.summary()
}

#[test]
fn more_connections_are_advised_only_if_the_service_is_as_fast_as_ever() {
    let advice = |service_ns: u64| {
        let summary = growing(service_ns);
        assert!(caution(&summary, "backlog_grew").is_some(), "{:?}", summary.cautions);
        caution(&summary, "connection_limit_reached").expect("arrivals waited").advice()
    };
    let fast = advice(5 * MS);
    assert!(fast.starts_with("raise `--max-connections`"), "{fast}");
    let slow = advice(25 * MS);
    assert!(slow.starts_with("lower the rate"), "{slow}");
}
