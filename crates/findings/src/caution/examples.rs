//! An example of every shape of evidence, with made-up numbers: the reference names the figures of a caution by them,
//! and tests raise cautions with them.

mod doubts;

use super::evidence::{
    ChangedResponse, DescriptorUse, EmptyRun, FailedMonitor, FirstMissedSample, GrownMemory, LateConnections,
    LevelFigure, ListenerOverflow, PlanDifference, RecordLoss, ResponseChange, StatusCount, SteeredChange,
    SteeredStep, StopCause, ThinQuantile, ThrottledGroup,
};
use super::{Evidence, Kind};
use plimsoll_plan::watch::Unit;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

impl Evidence {
    /// One of every variant at least: those of [`Kind::example`], and what is raised by the doubts of a threshold.
    pub fn examples() -> Vec<Evidence> {
        let own = Kind::ALL.iter().map(|kind| kind.example());
        own.chain(doubts::examples()).collect()
    }
}

impl Kind {
    /// Evidence of it. The match is exhaustive, so a new row without an example does not compile.
    pub fn example(self) -> Evidence {
        match self {
            Kind::ClientFdLimit => Evidence::NoDescriptors {
                attempts_count: 44,
                hosts: vec!["lab".into()],
                soft_limit_count: 256,
                hard_limit_count: 256,
                enough_count: 65_536,
            },
            Kind::ClientPortsExhausted => Evidence::NoPorts {
                attempts_count: 1_204,
                hosts: vec!["lab".into()],
                port_range: Some([32_768, 60_999]),
                keeps_alive: false,
            },
            Kind::ClientOutOfMemory => Evidence::NoMemory { attempts_count: 12, hosts: vec!["lab".into()] },
            Kind::ClientSendRefused => {
                Evidence::SendRefused { attempts_count: 300, hosts: vec!["lab".into()] }
            }
            Kind::ClientLimit => Evidence::ResponsesCut { responses_count: 3 },
            Kind::OriginRefused => Evidence::OriginsRefused { requests_count: 40 },
            Kind::InvalidRequest => Evidence::RequestsInvalid { requests_count: 3 },
            Kind::ClientStalled => Evidence::WorkersStalled { stalls_count: 3, stalled_ratio: 0.042 },
            Kind::IncompleteRecord => Evidence::RecordIncomplete {
                losses: vec![RecordLoss::Seconds {
                    from_s: 12.0,
                    to_s: 15.0,
                    reason: "the run ended early".into(),
                    generator: None,
                }],
                more_count: 0,
                is_in_totals: false,
            },
            Kind::NoRequests => Evidence::NothingMeasured {
                run: EmptyRun::NothingFinished,
                measured_ns: 10 * SECOND,
                sent_count: 50,
                unanswered_count: 50,
            },
            Kind::OfferedRateMissed => Evidence::ArrivalsNotSent {
                unsent_count: 1_250,
                asked_count: 20_000,
                unsent_ratio: 0.0625,
                worker_ratio: Some(0.97),
            },
            Kind::LateSends => Evidence::LateSends { schedule_lag_p99_ns: 12 * MS, response_p99_ns: 80 * MS },
            Kind::TooFewSamples => Evidence::ThinQuantiles {
                samples_count: 4_311,
                needed_count: 10_000,
                quantiles: vec![ThinQuantile { subject: "response_time".into(), quantile: 0.999 }],
            },
            Kind::MergedRunsNotConcurrent => Evidence::RunsApart {
                shared_ns: 2 * SECOND,
                shortest_ns: 30 * SECOND,
                longest_ns: 31 * SECOND,
            },
            Kind::LoadChangedManually => Evidence::LoadSteered {
                steps: vec![SteeredStep {
                    from_ns: 4 * SECOND,
                    host: None,
                    change: SteeredChange::Paused { to_ns: 7 * SECOND },
                }],
                more_count: 0,
            },
            Kind::BacklogGrew => Evidence::BacklogGrew {
                first_p50_ns: 48e6,
                last_p50_ns: 1.32e9,
                first_in_flight: 51.0,
                last_in_flight: 1_310.0,
            },
            Kind::UnsteadyStart => Evidence::LevelShift {
                figure: LevelFigure::MedianResponseTime,
                before_ns: 41e6,
                after_ns: 8.2e6,
                changed_at_ns: 5 * SECOND,
                rate_before_per_s: Some(240.0),
                rate_after_per_s: Some(1_210.0),
            },
            Kind::SynRetransmits => Evidence::ConnectionsLate {
                late_count: 12,
                connections_count: 400,
                late_ratio: 0.03,
                fastest_ns: 212_000,
                by_second: vec![
                    LateConnections { later_by_s: 1, connections_count: 10 },
                    LateConnections { later_by_s: 3, connections_count: 2 },
                ],
                resent_segments_count: 14,
            },
            Kind::ThunderingHerd => Evidence::UsersAtOnce {
                users_count: 400,
                within_ns: 10 * MS,
                late_count: 12,
                connections_count: 400,
            },
            Kind::ListenQueueOverflow => Evidence::ListenersOverflowed {
                listeners: vec![ListenerOverflow {
                    monitor: "host".into(),
                    metric: "listen overflows".into(),
                    overflows_count: 212,
                }],
                more_count: 0,
                is_own_server: true,
            },
            Kind::ProcessFdLimit => Evidence::DescriptorsUsed {
                resources: vec![DescriptorUse {
                    resource: "server fds".into(),
                    used_ratio: 0.99,
                    used_count: Some(1_014),
                    limit_count: Some(1_024),
                    at_ns: 12 * SECOND,
                }],
                more_count: 0,
            },
            Kind::CpuThrottled => Evidence::GroupsThrottled {
                groups: vec![ThrottledGroup { monitor: "service".into(), mean_ratio: 0.31, max_ratio: 0.6 }],
                more_count: 0,
            },
            Kind::NetworkSaturated => Evidence::NetworkSaturated {
                body_ratio: 0.94,
                received_bytes_per_s: 117e6,
                uneven_ratio: 0.011,
                out_of_order_segments_count: 840,
            },
            Kind::ConnectionsUnfair => Evidence::ConnectionsUnfair {
                few_count: 4,
                connections_count: 40,
                few_requests_ratio: 0.97,
                requests_p50_count: 1,
                fairness_index: 0.11,
            },
            Kind::ConnectionsNotReused => Evidence::ConnectionsNotReused {
                closed_count: 29_800,
                connections_count: 29_850,
                requests_mean: 1.0,
                making_ns: 310_000.0,
                making_ratio: 0.24,
            },
            Kind::LowEphemeralPorts => Evidence::PortsHeld {
                closed_per_s: 450.0,
                held_count: 27_000.0,
                ports_count: 28_232,
                is_same_machine: false,
            },
            Kind::CensoredByTimeouts => Evidence::TimedOut {
                timeouts_count: 60,
                connecting_count: 0,
                timeouts_ratio: 0.002,
                after_ns: 10 * SECOND,
                bounded_from: Some(0.999),
            },
            Kind::CoordinatedOmission => Evidence::StallsHidden {
                slow_above_ns: 27 * MS,
                slow_count: 40,
                slow_ratio: 0.0001,
                time_ratio: 0.1,
                longest_ns: 2 * SECOND,
                arrivals_p99_ns: 1_800 * MS,
                p99_ns: 4 * MS,
                is_scripted: false,
            },
            Kind::ConnectionLimitReached => Evidence::ConnectionsFull {
                queued_count: 312,
                unstarted_count: 0,
                peak_count: 50,
                limit_count: 50,
                streams_count: 1,
                wait_p99_ns: Some(90 * MS),
                suggested_count: 100,
                has_growing_backlog: false,
            },
            Kind::RequestsUnprocessed => Evidence::RequestsRetried {
                unprocessed_count: 1_830,
                unprocessed_ratio: 0.029,
                goaways_count: 60,
            },
            Kind::StreamLimitReached => {
                Evidence::StreamsFull { waited_count: 412, waited_ratio: 0.041, streams_count: 100 }
            }
            Kind::LittlesLaw => Evidence::UsersOutside { outside_ratio: 0.47, unexplained_ratio: 0.45 },
            Kind::ClientCpuSaturated => Evidence::WorkerBusy { worker: 0, machine: None, busy_ratio: 0.99 },
            Kind::ClientCpuWait => {
                Evidence::WorkerQueued { worker: 0, machine: Some(2), cpu_wait_ratio: 0.3 }
            }
            Kind::CpuSteal => Evidence::CpuStolen { steal_ratio: 0.12 },
            Kind::Retransmits => Evidence::SegmentsResent {
                segments_count: 120,
                requests_count: 30_000,
                resent_ratio: 0.004,
                is_same_machine: false,
            },
            Kind::StaleConnections => Evidence::ConnectionsStale {
                requests_count: 12,
                idle_min_ns: Some(5 * SECOND),
                idle_max_ns: Some(5_010 * MS),
                is_in_use: false,
            },
            Kind::UnexpectedBytes => Evidence::UnexpectedBytes { responses_count: 2 },
            Kind::MeanAboveP95 => {
                Evidence::MeanAboveP95 { mean_ns: 48e6, is_lower_bound: false, p95_ns: 12 * MS }
            }
            Kind::ResponseChanged => Evidence::ResponsesChanged {
                changes: vec![ChangedResponse {
                    request: "GET /pick".into(),
                    at_ns: 14 * SECOND,
                    change: ResponseChange::Size { before_bytes: 5_310.0, after_bytes: 74.0 },
                }],
                more_count: 0,
            },
            Kind::RedirectsNotFollowed => Evidence::RedirectsOnly {
                redirects: vec![StatusCount { status: 301, responses_count: 1_200 }],
                location: Some("https://shop.example/".into()),
                leads_elsewhere: true,
            },
            Kind::RowsNotWritten => Evidence::RowsLost { rows_count: 40 },
            Kind::TooManySeries => Evidence::SeriesRefused { lookups_count: 90, limit_count: 1_000 },
            Kind::ValuesRejected => Evidence::ValuesRefused { values_count: 7 },
            Kind::EventStreamsAsResponses => {
                Evidence::EventStreamsAsResponses { responses_count: 1_200, requests_count: 2_400 }
            }
            Kind::IterationsAbandoned => {
                Evidence::IterationsAbandoned { iterations_count: 30, failed_requests_count: 2 }
            }
            Kind::MergedTargetsDiffer => Evidence::PlansDiffer {
                differences: vec![PlanDifference::WarmUps { first_ns: SECOND, other_ns: 2 * SECOND }],
                divisions: Vec::new(),
                repeated_share: None,
            },
            Kind::MonitorFailed => Evidence::MonitorsFailed {
                monitors: vec![FailedMonitor {
                    monitor: "db".into(),
                    samples_count: 4,
                    measured_s: 30,
                    first_missed_sample: Some(FirstMissedSample {
                        at_s: 4.1,
                        reason: "connection refused".into(),
                    }),
                }],
                more_count: 0,
            },
            Kind::MemoryGrowth => Evidence::MemoryGrew {
                memories: vec![GrownMemory {
                    monitor: "server".into(),
                    part: String::new(),
                    metric: "rss".into(),
                    slope_bytes_per_h: 12e6,
                    slope_low_bytes_per_h: 8.1e6,
                    slope_high_bytes_per_h: 15.2e6,
                    growth_ratio: 0.08,
                    last: 412e6,
                    unit: Unit::Bytes,
                }],
                more_count: 0,
            },
            Kind::SameMachine => Evidence::LocalTarget { address: "127.0.0.1".into() },
            Kind::CertificateNotVerified => Evidence::AnyCertificate { server_name: "shop.example".into() },
            Kind::CensoredAtEnd => Evidence::InFlightAtStop {
                unanswered_count: 402,
                unsent_count: 0,
                finished_count: 4_311,
                bounded_from: Some(0.95),
            },
            Kind::RttBound => Evidence::RoundTrip {
                request_p50_ns: 42 * MS,
                round_trip_ns: 41 * MS,
                users_count: 50,
                limit_per_s: 1_220.0,
            },
            Kind::ShortRun => Evidence::ShortRun { measured_ns: 3 * SECOND },
            Kind::DataExhausted => Evidence::UsersOutOfData { users_count: 10 },
            Kind::StoppedEarly => Evidence::StoppedEarly {
                elapsed_ns: 2_990 * MS,
                planned_ns: Some(15 * SECOND),
                stopped_by: StopCause::Interrupt,
                reason: None,
            },
        }
    }
}
