//! Handmade summaries: a closed PASS run, an open FAIL run with errors, a run that reached the limit on open files of
//! its machine, two merged runs, and one in which no request completed. Distributions come from real
//! histograms, so that the values agree.

mod parts;
mod picture;
mod shop;
mod watched;

pub use parts::*;
#[allow(unused_imports, reason = "tests of pages draw without monitors, too")]
pub use picture::{drawn, drawn_with_monitors};
pub use shop::{plan as shop_plan, shop};
pub use watched::watched;

use plimsoll_analysis::caution::Evidence;
use plimsoll_analysis::caution::evidence::{RecordLoss, ThinQuantile};
use plimsoll_analysis::summary::*;
use plimsoll_plan::Fault;
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::Hist;
use std::collections::BTreeMap;

/// Closed model, 100 users, 15 s after 5 s of warm-up, without problems.
pub fn pass() -> Summary {
    let response = delays(72_180, 300_000, 1_750_000.0, 1);
    let mut s = base(closed(100, 20, 5), &response, &Hist::new(), &response);
    s.verdict.sentence = "PASS: 4,812 requests/s with p99 8.36 ms and no errors over 15.0 s".into();
    s.thresholds = vec![
        judged("response_time p99 < 250ms", false, 8.36e6, 250e6, FigureUnit::Nanoseconds, true),
        judged("error_rate == 0%", false, 0.0, 0.0, FigureUnit::Ratio, true),
    ];
    s.timeline = timeline(20, 5, 4_812.0, None, |t| {
        (0, if t == 0 { 0.6 } else { 1.0 }, if t == 0 { 2.5 } else { 1.0 })
    });
    s
}

/// Open model at 1,000/s with a service that stalls once, and that answers some requests with 503 or not at all.
pub fn fail() -> Summary {
    let mut response = delays(28_900, 300_000, 1_200_000.0, 2);
    response.merge(&delays(1_000, 200 * MS, 300e6, 3));
    let service = delays(29_900, 300_000, 1_150_000.0, 4);
    let mut cut_off = Hist::new();
    cut_off.record_n(10_000 * MS, 60);
    let mut s = base(open(1_000.0, 30), &response, &cut_off, &service);
    s.verdict = Verdict {
        result: Outcome::Fail,
        sentence:
            "FAIL: the p99 response time is 669 ms, the limit is 250 ms; 0.841% of 29,964 requests failed, \
                   the limit is 0.1%"
                .into(),
        reasons: vec!["error_rate < 0.1%".into(), "response_time p99 < 250ms".into()],
    };
    s.thresholds = vec![
        judged("response_time p99 < 250ms", false, 669e6, 250e6, FigureUnit::Nanoseconds, false),
        judged("error_rate < 0.1%", false, 0.00841, 0.001, FigureUnit::Ratio, false),
        judged("achieved >= 99%", true, 0.9987, 0.99, FigureUnit::Ratio, true),
    ];
    s.thresholds[0].is_lower_bound = true;
    s.cautions.insert(
        0,
        Evidence::TimedOut {
            timeouts_count: 60,
            connecting_count: 0,
            timeouts_ratio: 60.0 / 29_964.0,
            after_ns: 10_000 * MS,
            bounded_from: Some(0.999),
        }
        .raise(),
    );
    s.totals.errors = 252;
    s.totals.error_ratio = 252.0 / s.totals.requests as f64;
    s.offered = Some(Offered { arrivals: 30_012, rate_per_s: 1_000.4, arrivals_queued: 312 });
    s.achieved.ratio = Some(0.9987);
    s.errors = vec![error(Fault::Timeout, 60), error(Fault::Status, 180), error(Fault::StaleConnection, 12)];
    s.status_codes = BTreeMap::from([("200".into(), 29_708), ("503".into(), 180), ("other".into(), 12)]);
    s.phases.connection_wait = short(&delays(312, MS, 90e6, 11));
    s.phases.dns_ns = 1_820_000;
    s.client.workers = vec![
        WorkerRow {
            generator: 0,
            worker: 0,
            busy_ratio: 0.112,
            busy_poll_ratio: 0.061,
            idle_ratio: 0.82,
            cpu_wait_ratio: 0.007,
        },
        WorkerRow {
            generator: 0,
            worker: 1,
            busy_ratio: 0.108,
            busy_poll_ratio: 0.064,
            idle_ratio: 0.825,
            cpu_wait_ratio: 0.003,
        },
    ];
    s.client.connections.closed_by_server = 14;
    s.client.connections.closed_after_error = 72;
    s.client.connections.requests_per_connection_p50 = Some(61);
    s.client.connections.requests_per_connection_max = Some(1_204);
    s.client.arrivals_queued_peak = 188;
    s.spikes = vec![
        Spike {
            from_s: 12.0,
            to_s: 14.0,
            slow_s: 2.0,
            baseline_p95_ns: 4_100_000,
            peak_p95_ns: 812 * MS,
            recovered_after_s: Some(3.0),
        },
        Spike {
            from_s: 27.0,
            to_s: 30.0,
            slow_s: 3.0,
            baseline_p95_ns: 4_100_000,
            peak_p95_ns: 640 * MS,
            recovered_after_s: None,
        },
    ];
    s.requests = vec![
        series("GET /pick", 20_000, 60, 30.0, &response, &service),
        series(
            "POST /users, creates a user and has a rather long name",
            9_960,
            192,
            30.0,
            &response,
            &service,
        ),
    ];
    s.timeline = timeline(30, 0, 998.0, Some(1_000.0), |t| match t {
        12 => (180, 0.3, 80.0),
        13 => (20, 1.6, 100.0),
        27..30 => (52 / 3, 0.95, 60.0),
        _ => (0, 1.0, 1.0),
    });
    s
}

/// 300 users with a limit of 256 open files, in a short run.
pub fn inconclusive() -> Summary {
    let response = delays(4_311, 300_000, 1_750_000.0, 1);
    let mut s = base(closed(300, 15, 0), &response, &Hist::new(), &response);
    s.verdict = Verdict {
        result: Outcome::Inconclusive,
        sentence: "INCONCLUSIVE: this machine ran out of file descriptors (44 attempts; limit 256)".into(),
        reasons: vec!["client_fd_limit".into()],
    };
    s.thresholds = vec![judged("error_rate == 0%", true, 0.0, 0.0, FigureUnit::Ratio, true)];
    s.cautions = vec![
        same_machine(),
        Caution {
            severity: Severity::Note,
            ..Evidence::ThinQuantiles {
                samples_count: 4_311,
                needed_count: 10_000,
                quantiles: vec![ThinQuantile { subject: "response_time".into(), quantile: 0.999 }],
            }
            .raise()
        },
        Evidence::StallsHidden {
            slow_above_ns: 43 * MS,
            slow_count: 1,
            slow_ratio: 1.0 / 4_311.0,
            time_ratio: 0.1,
            longest_ns: 1_500 * MS,
            arrivals_p99_ns: 1_350 * MS,
            p99_ns: 8_360_000,
            is_scripted: false,
        }
        .raise(),
        Evidence::NoDescriptors {
            attempts_count: 44,
            hosts: vec!["lab".into()],
            soft_limit_count: 256,
            hard_limit_count: 256,
            enough_count: 65_536,
        }
        .raise(),
    ];
    s.environments[0].nofile_soft_found = 256;
    s.environments[0].nofile_soft = 256;
    s.environments[0].nofile_hard = 256;
    s.client.faults = vec![error(Fault::FdLimit, 44)];
    let c = &mut s.client.connections;
    (c.attempts, c.opened, c.open_at_end, c.peak) = (300, 239, 239, 239);
    s.client.in_flight_peak = 239;
    s.client.littles_law.users_mean = Some(300.0);
    s.client.littles_law.users_outside_ratio = Some(0.203);
    s.timeline = timeline(15, 0, 287.4, None, |_| (0, 1.0, 1.0));
    s
}

/// Two laptops, each with half of the schedule; the second ended early.
pub fn merged() -> Summary {
    let response = delays(60_000, 300_000, 1_750_000.0, 1);
    let mut plan = open(4_000.0, 15);
    plan.name = "checkout".into();
    let mut s = base(plan, &response, &Hist::new(), &response);
    s.verdict = Verdict {
        result: Outcome::Inconclusive,
        sentence: "INCONCLUSIVE: 3 seconds of 1 machine are missing".into(),
        reasons: vec!["incomplete_record".into()],
    };
    s.offered = Some(Offered { arrivals: 60_000, rate_per_s: 4_000.0, arrivals_queued: 0 });
    s.achieved.ratio = Some(0.99991);
    let losses = vec![RecordLoss::Seconds {
        from_s: 12.0,
        to_s: 15.0,
        reason: "the run ended early".into(),
        generator: Some("b2".into()),
    }];
    s.cautions = vec![Evidence::RecordIncomplete { losses, more_count: 0, is_in_totals: false }.raise()];
    s.client.workers.extend(workers(1));
    s.client.workers[1].worker = 1;
    s.is_complete = false;
    s.stopped_by = None;
    s.gaps =
        vec![Gap { generator: "b2".into(), from_s: 12.0, to_s: 15.0, reason: "the run ended early".into() }];
    s.generators = vec![
        origin("a1", "lab-1", "1/2", 33_000, 2_200.0, 15.0, &response),
        origin("b2", "lab-2", "2/2", 27_000, 2_250.0, 12.0, &response),
    ];
    s.generators[1].is_complete = false;
    s.environments.push(environment("lab-2"));
    s.timeline = timeline(15, 0, 4_000.0, Some(4_000.0), |t| (0, if t > 11 { 0.5 } else { 1.0 }, 1.0));
    s
}

/// A run in which no request completed: every option is empty.
pub fn nothing() -> Summary {
    let empty = Hist::new();
    let mut s = base(closed(100, 1, 0), &delays(100, 1, 1.0, 1), &empty, &empty);
    (s.totals.requests, s.totals.requests_sent, s.totals.iterations) = (0, 0, 0);
    s.achieved.rate_per_s = 0.0;
    s.response_time = times(&empty, &empty);
    s.service_time = times(&empty, &empty);
    s.status_codes.clear();
    s.client.workers.clear();
    s.environments.clear();
    s.client.rtt = Short::default();
    s.client.rtt_min_ns = None;
    s.client.littles_law = Little {
        in_flight_mean: f64::NAN,
        in_flight_computed: 0.0,
        users_mean: None,
        users_outside_ratio: None,
        is_consistent: false,
    };
    s.buckets.clear();
    s.requests.clear();
    s.verdict.result = Outcome::Inconclusive;
    s.verdict.sentence = "INCONCLUSIVE: nothing finished".into();
    s
}

pub fn all() -> Vec<(&'static str, Summary)> {
    vec![
        ("pass", pass()),
        ("fail", fail()),
        ("inconclusive", inconclusive()),
        ("merged", merged()),
        ("nothing", nothing()),
        ("shop", shop()),
        ("watched", watched()),
    ]
}
