//! Digests made of numbers: a run of some seconds at one level, which a test changes in exactly one way.

use plimsoll_analysis::digest::{Block, Digest, Level};
use plimsoll_analysis::summary::{Outcome, Percentile, Times};
use plimsoll_experiment::study::{Finding, Study, StudyAsked, study};
use plimsoll_plan::experiment::{CellOutline, Setting};
use plimsoll_stats::Hist;
use plimsoll_stats::random::SplitMix64;

pub const MS: f64 = 1e6;
pub const S: u64 = 1_000_000_000;

/// Normal deviates from the sum of twelve uniforms.
pub fn noise(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

/// The parameters of one second of a run.
#[derive(Clone, Copy)]
pub struct Second {
    pub rate: f64,
    /// Mean of the service and of the response times, ns.
    pub mean_ns: f64,
    pub in_flight: f64,
    pub bytes_per_answer: f64,
}

/// A run whose seconds come from `second`, with 2% of noise in rate and time. Times range from half to one and a half
/// times their mean.
pub fn run(
    settings: &[(&str, &str)],
    level: Level,
    seconds: usize,
    seed: u64,
    second: impl Fn(usize) -> Second,
) -> Digest {
    let mut random = SplitMix64::new(seed);
    let blocks: Vec<Block> = (0..seconds)
        .map(|at| {
            let made = second(at);
            let n = (made.rate * (1.0 + 0.02 * noise(&mut random))).round().max(0.0) as u64;
            let mean_ns = made.mean_ns * (1.0 + 0.02 * noise(&mut random));
            let mut response = Hist::on_demand();
            // Forty buckets hold any number of responses.
            let places = 40;
            for place in 0..places {
                let share = n * (place + 1) / places - n * place / places;
                response.record_n((mean_ns * (0.5 + (place as f64 + 0.5) / places as f64)) as u64, share);
            }
            Block {
                from_ns: at as u64 * S,
                length_ns: S,
                offered: if matches!(level, Level::Rate(_)) { n } else { 0 },
                requests: n,
                errors: 0,
                bytes_in: (n as f64 * made.bytes_per_answer) as u64,
                in_flight: made.in_flight,
                service: response.clone(),
                response,
            }
        })
        .collect();
    digest(settings, level, blocks)
}

/// The digest of blocks, whose values are computed from them as an analysis of the run would.
pub fn digest(settings: &[(&str, &str)], level: Level, blocks: Vec<Block>) -> Digest {
    let lasted: f64 = blocks.iter().map(|b| b.length_ns as f64 / 1e9).sum();
    let sum = |of: fn(&Block) -> u64| blocks.iter().map(of).sum::<u64>();
    let (requests, errors) = (sum(|b| b.requests), sum(|b| b.errors));
    let mut response = Hist::on_demand();
    let mut service = Hist::on_demand();
    blocks.iter().for_each(|b| response.merge(&b.response));
    blocks.iter().for_each(|b| service.merge(&b.service));
    let rate = requests as f64 / lasted;
    let settings: Vec<Setting> = settings
        .iter()
        .map(|(axis, value)| Setting { parameter: (*axis).into(), value: (*value).into() })
        .collect();
    let cell = (!settings.is_empty()).then(|| CellOutline {
        experiment: "sweep".into(),
        settings,
        repeat: 0,
        run_index: 0,
        seed: 1,
        purpose: None,
    });
    Digest {
        name: "run".into(),
        target: "http://10.0.0.7:8080".into(),
        cell,
        level,
        outcome: Outcome::Pass,
        thresholds: Vec::new(),
        cautions: Vec::new(),
        complete: true,
        measured_s: lasted,
        requests,
        errors,
        error_ratio: if requests > 0 { errors as f64 / requests as f64 } else { 0.0 },
        socket_errors: 0,
        client_faults: 0,
        offered_rate_per_s: matches!(level, Level::Rate(_)).then_some(sum(|b| b.offered) as f64 / lasted),
        rate_per_s: rate,
        iterations_per_s: rate,
        response_time: times(&response),
        service_time: times(&service),
        in_flight_mean: blocks.iter().map(|b| b.in_flight).sum::<f64>() / blocks.len().max(1) as f64,
        bytes_in_per_s: sum(|b| b.bytes_in) as f64 / lasted,
        rtt_min_ns: Some(80_000),
        connect_p50_ns: Some(90_000),
        first_byte_mean_ns: response.mean().map(|m| m * 0.9),
        body_mean_ns: response.mean().map(|m| m * 0.1),
        stopped_by: Some(plimsoll_record::event::StoppedBy::Duration),
        started_unix_ns: 0,
        blocks,
        by_request: Vec::new(),
        generator: Default::default(),
        watched: Default::default(),
    }
}

pub fn times(hist: &Hist) -> Times {
    let percentile = |q: f64| {
        let value_ns = hist.quantile(q)?;
        Some(Percentile {
            q,
            value_ns,
            is_lower_bound: false,
            low_ns: None,
            high_ns: None,
            has_enough_samples: true,
        })
    };
    let at = |q: f64| hist.quantile(q);
    Times {
        count: hist.count(),
        censored: 0,
        min_ns: hist.min(),
        mean_ns: hist.mean(),
        mean_is_lower_bound: false,
        std_dev_ns: hist.std_dev(),
        p50_ns: at(0.5),
        p75_ns: at(0.75),
        p90_ns: at(0.9),
        p95_ns: at(0.95),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: hist.max(),
        max_is_lower_bound: false,
        percentiles: [0.5, 0.75, 0.9, 0.95, 0.99, 0.999].into_iter().filter_map(percentile).collect(),
    }
}

/// `users` in a closed loop at `rate`; Little's law gives the times.
pub fn closed(settings: &[(&str, &str)], users: f64, rate: f64, seed: u64) -> Digest {
    let second = Second { rate, mean_ns: users / rate * 1e9, in_flight: users, bytes_per_answer: 300.0 };
    run(settings, Level::Users(users), 20, seed, |_| second)
}

/// A sweep of users that follows a law, each level once.
pub fn sweep(levels: &[f64], law: impl Fn(f64) -> f64) -> Vec<Digest> {
    levels
        .iter()
        .zip(1..)
        .map(|(users, seed)| closed(&[("users", &users.to_string())], *users, law(*users), seed))
        .collect()
}

pub fn studied(runs: &[Digest]) -> Study {
    study(runs, &StudyAsked::default())
}

pub fn found<'a>(study: &'a Study, code: &str) -> Option<&'a Finding> {
    study.findings.iter().find(|f| f.code == code)
}

pub fn codes(study: &Study) -> Vec<&'static str> {
    study.findings.iter().map(|f| f.code).collect()
}
