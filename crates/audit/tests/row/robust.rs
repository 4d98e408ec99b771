//! Other people's files hold anything: no rule may panic, loop, or call nonsense proved.

use crate::row::fixture::{document, row};
use plimsoll_audit::audit;
use plimsoll_audit::foreign::model::Samples;
use plimsoll_audit::foreign::{Figure, Measure, Row, Tool};
use plimsoll_stats::random::SplitMix64;

const MEASURES: [Measure; 26] = [
    Measure::Users,
    Measure::GeneratorThreads,
    Measure::Loops,
    Measure::Duration,
    Measure::Requests,
    Measure::Errors,
    Measure::ErrorRatio,
    Measure::ConnectErrors,
    Measure::TimeoutErrors,
    Measure::LengthErrors,
    Measure::Non2xx,
    Measure::KeepAliveRequests,
    Measure::Rate,
    Measure::ThreadRateMean,
    Measure::BytesPerS,
    Measure::BytesTotal,
    Measure::BodyBytes,
    Measure::Mean,
    Measure::StdDev,
    Measure::Min,
    Measure::Max,
    Measure::Percentile(5_000),
    Measure::Percentile(9_900),
    Measure::ConnectMedian,
    Measure::TimePerRequestAll,
    Measure::Iterations,
];
const VALUES: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-300,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    20_001.0,
    1e15,
];

#[test]
fn no_figure_makes_a_rule_panic() {
    let mut random = SplitMix64::new(7);
    let mut pick = |n: usize| (random.next_u64() % n as u64) as usize;
    let tools = [None, Some(Tool::Wrk), Some(Tool::Ab), Some(Tool::K6), Some(Tool::Jmeter)];
    for _ in 0..4_000 {
        let mut row = Row { tool: tools[pick(tools.len())], ..Row::default() };
        for measure in MEASURES {
            let mut value = || VALUES[pick(VALUES.len())];
            let (value, low, high) = (value(), value(), value());
            let exact = pick(2) == 0;
            let (low, high) = if exact { (value, value) } else { (low, high) };
            if pick(3) > 0 {
                row.figures.insert(measure, Figure { value, low, high, ..Figure::default() });
            }
        }
        if pick(4) == 0 {
            let times = vec![VALUES[pick(VALUES.len())]; pick(3)].into_iter().collect();
            row.samples = Some(Samples { count: pick(4) as u64, times, ..Samples::default() });
        }
        let audit = audit(&[document(vec![row.clone(), row])]);
        for finding in &audit.findings {
            assert!(!finding.sentence.is_empty() && !finding.advice.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn a_figure_without_sense_is_passed_over() {
    let mut nonsense = row("hey rate=612.50 mean=201.30ms users=90");
    if let Some(mean) = nonsense.figures.get_mut(&Measure::Mean) {
        mean.high = f64::NAN;
    }
    let audit = audit(&[document(vec![nonsense])]);
    assert!(audit.findings.iter().all(|f| f.rule != "more_in_flight_than_users"));
}

#[test]
fn thousands_of_rows_are_no_work() {
    let at = |line: u32| {
        let mut row = row("hey rate=612.50 mean=201.30ms users=90");
        row.figures.values_mut().for_each(|figure| figure.line = line);
        row
    };
    let rows: Vec<Row> = (1..=5_000).map(at).collect();
    let mut large = document(rows);
    large.text = "some line of a large file\n".repeat(50_000);
    let audit = audit(&[large]);
    let found: Vec<_> = audit.findings.iter().filter(|f| f.rule == "more_in_flight_than_users").collect();
    // A reader looks at some of their lines.
    assert_eq!((found.len(), found[0].quotes.len()), (1, 300));
    assert_eq!(audit.sources["run.txt"].len(), 100);
}
