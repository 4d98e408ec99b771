//! Handwritten comparisons: one for each verdict.

use plimsoll_analysis::summary::Severity;
use plimsoll_experiment::compare::{
    Basis, Compared, Comparison, Doubt, Overall, SCHEMA_VERSION, Scale, SideFacts, Verdict, evidence,
    figure_name,
};
use plimsoll_plan::experiment::{Figure, Setting};
use plimsoll_plan::threshold::FigureUnit;

const P50: Figure = Figure::Percentile { q: 0.5, service: false };
const P99: Figure = Figure::Percentile { q: 0.99, service: false };
const SERVICE_P99: Figure = Figure::Percentile { q: 0.99, service: true };

fn row(kind: Figure, a: f64, (difference, low, high): (f64, f64, f64), p: f64, verdict: Verdict) -> Compared {
    let (unit, scale) = match kind {
        Figure::Throughput | Figure::Capacity => (FigureUnit::PerSecond, Scale::Ratio),
        Figure::ErrorRate => (FigureUnit::Ratio, Scale::Points),
        _ => (FigureUnit::Nanoseconds, Scale::Ratio),
    };
    let b = if scale == Scale::Points { a + difference } else { a * (1.0 + difference) };
    let open = matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive);
    Compared {
        figure: figure_name(kind),
        kind,
        unit,
        a: Some(a),
        b: Some(b),
        a_is_lower_bound: false,
        b_is_lower_bound: false,
        scale,
        difference: Some(difference),
        low: Some(low),
        high: Some(high),
        widened_low: Some(low),
        widened_high: Some(high),
        is_doubtful: false,
        p: Some(p / 3.0),
        p_adjusted: Some(p),
        verdict,
        difference_bound: open.then(|| low.abs().max(high.abs())),
        more_repeats: (verdict == Verdict::Inconclusive).then_some(4),
        basis: Basis::Runs,
    }
}

fn comparison(verdict: Overall, figures: Vec<Compared>, doubts: Vec<Doubt>, headline: usize) -> Comparison {
    let facts = |name: &str| SideFacts {
        name: name.into(),
        runs: 5,
        requests: 1_214_502,
        measured_s: 150.0,
        target: "http://127.0.0.1:8080/".into(),
    };
    let said = figures.get(headline).map_or(String::new(), |row| {
        format!("`after` against `before`: {} {}", row.figure, evidence(row, 0.95))
    });
    Comparison {
        schema_version: SCHEMA_VERSION,
        a: facts("before"),
        b: facts("after"),
        settings: Vec::new(),
        verdict,
        sentence: said,
        // For a mixed result, the reasons are those of the worse metrics.
        headline: match verdict {
            Overall::Mixed => figures.iter().rfind(|row| row.verdict.is_worse()),
            _ => figures.get(headline),
        }
        .map(|row| row.figure.clone()),
        p_values_count: figures.len(),
        figures,
        doubts,
        min_difference_ratio: 0.05,
        min_error_difference_ratio: 0.001,
        confidence: 0.95,
        seed: 1,
        peaks: Vec::new(),
        requests: Vec::new(),
        spectra: None,
    }
}

pub fn slower() -> Comparison {
    let figures = vec![
        row(Figure::Throughput, 8_097.0, (-0.003, -0.009, 0.004), 1.0, Verdict::Equivalent),
        row(Figure::ErrorRate, 0.0, (0.0, -0.000_01, 0.000_01), 1.0, Verdict::Equivalent),
        row(Figure::Mean, 8.4e6, (0.128, 0.094, 0.164), 0.000_2, Verdict::Slower),
        row(P50, 6.1e6, (0.121, 0.092, 0.151), 0.000_1, Verdict::Slower),
        row(P99, 31.4e6, (0.142, -0.006, 0.313), 0.21, Verdict::Inconclusive),
        row(SERVICE_P99, 29.9e6, (0.171, 0.041, 0.317), 0.032, Verdict::Slower),
    ];
    let sizes = Doubt::new(
        "response_sizes_differ",
        Severity::Warning,
        "response sizes differ",
        "353 B and 284 B per request, including headers".into(),
        "check that both sides do the same work",
    );
    comparison(Overall::Slower, figures, vec![sizes], 3)
}

pub fn same() -> Comparison {
    let figures = vec![
        row(Figure::Throughput, 512.0, (0.001, -0.004, 0.006), 1.0, Verdict::Equivalent),
        row(Figure::ErrorRate, 0.000_4, (0.000_1, -0.000_3, 0.000_5), 1.0, Verdict::Equivalent),
        row(P50, 812_000.0, (-0.011, -0.031, 0.009), 0.9, Verdict::Equivalent),
        row(P99, 2.2e6, (0.004, -0.041, 0.049), 1.0, Verdict::Equivalent),
    ];
    comparison(Overall::Equivalent, figures, Vec::new(), 3)
}

pub fn mixed() -> Comparison {
    let mut c = comparison(
        Overall::Mixed,
        vec![
            row(Figure::ErrorRate, 0.001, (0.021, 0.014, 0.028), 0.000_4, Verdict::More),
            row(P50, 812_000.0, (-0.21, -0.25, -0.17), 0.000_4, Verdict::Faster),
            row(P99, 2.2e6, (1.9, 1.1, 3.4), 0.01, Verdict::Slower),
        ],
        Vec::new(),
        1,
    );
    c.settings = vec![Setting { parameter: "users".into(), value: "40".into() }];
    c
}

pub fn inconclusive() -> Comparison {
    let mut p99 = row(P99, 9.9e9, (0.01, -0.02, 0.04), 1.0, Verdict::Inconclusive);
    (p99.a_is_lower_bound, p99.b_is_lower_bound, p99.difference_bound, p99.more_repeats) =
        (true, true, None, None);
    let mut missing = row(SERVICE_P99, 1.0, (0.0, 0.0, 0.0), 1.0, Verdict::Inconclusive);
    (missing.difference, missing.low, missing.high, missing.b) = (None, None, None, None);
    (missing.p, missing.p_adjusted, missing.difference_bound, missing.more_repeats) =
        (None, None, None, None);
    missing.basis = Basis::Nothing;
    let doubts = vec![
        Doubt::new(
            "network_saturated",
            Severity::Inconclusive,
            "the network was saturated",
            "402 and 391 kB/s in responses of 284 and 353 B".into(),
            "run the load generator closer to the target, or compare responses of the same size",
        ),
        Doubt::new(
            "one_run",
            Severity::Warning,
            "run-to-run variation is unknown",
            "before and after have one run; 5% is assumed".into(),
            "repeat both sides at least three times, interleaved",
        ),
        Doubt::new(
            "too_few_samples",
            Severity::Note,
            "too few samples",
            "service_time p99 cannot be compared".into(),
            "run longer",
        ),
    ];
    let rate = row(Figure::Throughput, 1_108.0, (0.279, 0.11, 0.47), 0.001, Verdict::Higher);
    comparison(Overall::Inconclusive, vec![rate, p99, missing], doubts, 0)
}

/// Names that contain markup, and invalid numbers.
pub fn hostile() -> Comparison {
    let mut c = slower();
    c.a.name = "<script>|a` \u{1}\u{202e}".into();
    c.b.name = "ein ausserordentlich langer Name mit Bildern 🚀🚀🚀 und mehr als in eine Spalte passt".into();
    c.sentence = format!("`{}` is slower than `{}` & more", c.b.name, c.a.name);
    c.figures[0].high = Some(f64::INFINITY);
    c.figures[1].difference = Some(f64::NAN);
    c.figures[2].low = Some(f64::NEG_INFINITY);
    c.figures[3].low = Some(f64::NAN);
    c.figures[4].high = Some(1e300);
    c
}

pub fn all() -> Vec<(&'static str, Comparison)> {
    vec![("slower", slower()), ("same", same()), ("mixed", mixed()), ("cannot-tell", inconclusive())]
}
