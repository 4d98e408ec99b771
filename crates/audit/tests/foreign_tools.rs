//! What other load generators print is read to the last figure: the audit judges by these. The files under
//! `data/foreign/sound` were printed by the tools themselves, those under `made` follow formats that are no longer
//! printed.

use plimsoll_audit::foreign::{self, Document, Measure, Row, Tool};
use std::path::{Path, PathBuf};

const P50: Measure = Measure::Percentile(5_000);
const P90: Measure = Measure::Percentile(9_000);
const P95: Measure = Measure::Percentile(9_500);
const P99: Measure = Measure::Percentile(9_900);

/// A file, its tool, its rows, and figures of the first row: measure, value, lower and upper end of the rounding.
type Case = (&'static str, Tool, usize, &'static [(Measure, f64, f64, f64)]);

const CASES: &[Case] = &[
    (
        "sound/wrk-few-files.txt",
        Tool::Wrk,
        1,
        &[
            (Measure::GeneratorThreads, 2.0, 2.0, 2.0),
            (Measure::Users, 100.0, 100.0, 100.0),
            (Measure::Mean, 1.54e-3, 1.535e-3, 1.545e-3),
            (Measure::StdDev, 3.63e-3, 3.625e-3, 3.635e-3),
            (Measure::Max, 44.48e-3, 44.475e-3, 44.485e-3),
            (Measure::WithinStdDev, 0.9197, 0.91965, 0.91975),
            (Measure::ThreadRateMean, 44_420.0, 44_415.0, 44_425.0),
            (P50, 349e-6, 348.995e-6, 349.005e-6),
            (P99, 19.54e-3, 19.535e-3, 19.545e-3),
            (Measure::Requests, 444_585.0, 444_585.0, 444_585.0),
            (Measure::Duration, 5.09, 5.085, 5.095),
            (Measure::BytesTotal, 143.31 * 1_048_576.0, 143.305 * 1_048_576.0, 143.315 * 1_048_576.0),
            (Measure::ConnectErrors, 42.0, 42.0, 42.0),
            (Measure::TimeoutErrors, 0.0, 0.0, 0.0),
            (Measure::Rate, 87_327.89, 87_327.885, 87_327.895),
        ],
    ),
    ("sound/wrk-404.txt", Tool::Wrk, 1, &[(Measure::Non2xx, 153_360.0, 153_360.0, 153_360.0)]),
    (
        "made/wrk2.txt",
        Tool::Wrk2,
        1,
        &[
            (Measure::OfferedRate, 1_041.0, 1_040.5, 1_041.5),
            (P50, 12.12e-3, 12.115e-3, 12.125e-3),
            (Measure::Percentile(9_999), 134.58e-3, 134.575e-3, 134.585e-3),
            // The upper end of its bucket may be 0.1% above.
            (Measure::Max, 145.60e-3, 145.595e-3, 145.750605e-3),
            (Measure::Requests, 20_820.0, 20_820.0, 20_820.0),
        ],
    ),
    (
        "sound/ab-seconds.txt",
        Tool::Ab,
        1,
        &[
            (Measure::Users, 50.0, 50.0, 50.0),
            (Measure::BodyBytes, 300.0, 300.0, 300.0),
            (Measure::Duration, 5.0, 4.9995, 5.0005),
            (Measure::Requests, 18_122.0, 18_122.0, 18_122.0),
            (Measure::Errors, 0.0, 0.0, 0.0),
            (Measure::KeepAliveRequests, 18_122.0, 18_122.0, 18_122.0),
            (Measure::BytesTotal, 7_339_410.0, 7_339_410.0, 7_339_410.0),
            (Measure::Rate, 3_624.35, 3_624.345, 3_624.355),
            (Measure::TimePerRequestUsers, 13.796e-3, 13.7955e-3, 13.7965e-3),
            (Measure::TimePerRequestAll, 0.276e-3, 0.2755e-3, 0.2765e-3),
            (Measure::BytesPerS, 1_433.46 * 1_024.0, 1_433.455 * 1_024.0, 1_433.465 * 1_024.0),
            (Measure::Mean, 14e-3, 13.5e-3, 14.5e-3),
            (Measure::StdDev, 12.7e-3, 12.65e-3, 12.75e-3),
            (Measure::ConnectMax, 2e-3, 1.5e-3, 2.5e-3),
            (P95, 37e-3, 36.5e-3, 37.5e-3),
            (Measure::Max, 0.206, 0.2055, 0.2065),
        ],
    ),
    (
        "sound/ab-failures.txt",
        Tool::Ab,
        1,
        &[
            (Measure::Errors, 31.0, 31.0, 31.0),
            (Measure::LengthErrors, 31.0, 31.0, 31.0),
            (Measure::ConnectErrors, 0.0, 0.0, 0.0),
            (Measure::ReadErrors, 0.0, 0.0, 0.0),
            (Measure::ExceptionErrors, 0.0, 0.0, 0.0),
            (Measure::KeepAliveRequests, 969.0, 969.0, 969.0),
        ],
    ),
    (
        "sound/ab-post.txt",
        Tool::Ab,
        1,
        &[
            (Measure::BytesSentTotal, 635_000.0, 635_000.0, 635_000.0),
            (Measure::BytesSentPerS, 10_149.22 * 1_024.0, 10_149.215 * 1_024.0, 10_149.225 * 1_024.0),
        ],
    ),
    ("sound/ab-no-deviation.txt", Tool::Ab, 1, &[(Measure::Max, 7e-3, 6.5e-3, 7.5e-3)]),
    ("sound/ab-percent.csv", Tool::Ab, 1, &[(P99, 63.316e-3, 63.3155e-3, 63.3165e-3)]),
    (
        "sound/ab-samples.tsv",
        Tool::Ab,
        1,
        &[(Measure::Requests, 500.0, 500.0, 500.0), (Measure::Mean, 7.576 / 500.0, 14.652e-3, 15.652e-3)],
    ),
    (
        "sound/k6-tags.txt",
        Tool::K6,
        3,
        &[
            (Measure::Mean, 972.6e-6, 972.6e-6, 972.61e-6),
            (P95, 4e-3, 4e-3, 4.01e-3),
            (Measure::Requests, 3_600.0, 3_600.0, 3_600.0),
            (Measure::Rate, 718.634889, 718.6348885, 718.6348895),
            (Measure::Errors, 0.0, 0.0, 0.0),
            (Measure::ChecksPassed, 3_600.0, 3_600.0, 3_600.0),
            (Measure::ChecksFailed, 0.0, 0.0, 0.0),
            (Measure::BytesTotal, 562e3, 561_450.0, 562_550.0),
            (Measure::Users, 20.0, 20.0, 20.0),
            (Measure::Duration, 5.0, 4.95, 5.05),
        ],
    ),
    (
        "made/k6-old.txt",
        Tool::K6,
        1,
        &[
            (Measure::Errors, 271.0, 271.0, 271.0),
            (Measure::ErrorRatio, 0.013, 0.013, 0.0131),
            (Measure::ChecksFailed, 271.0, 271.0, 271.0),
            (Measure::ConnectMean, 307e-9, 307e-9, 308e-9),
            (Measure::Min, 804.74e-6, 804.74e-6, 804.75e-6),
            (Measure::FirstByteMean, 14.9e-3, 14.9e-3, 14.91e-3),
            (Measure::BytesTotal, 12e6, 11.45e6, 12.55e6),
        ],
    ),
    (
        "sound/k6-export.json",
        Tool::K6,
        1,
        &[
            (Measure::Mean, 0.2147401810916122e-3, 0.2147401810916122e-3, 0.2147401810916122e-3),
            (Measure::Max, 53.409368e-3, 53.409368e-3, 53.409368e-3),
            (Measure::Requests, 106_228.0, 106_228.0, 106_228.0),
            (Measure::Rate, 21_244.74567654421, 21_244.74567654421, 21_244.74567654421),
            (Measure::Errors, 0.0, 0.0, 0.0),
            (Measure::Users, 5.0, 5.0, 5.0),
        ],
    ),
    (
        "sound/k6-handle-summary.json",
        Tool::K6,
        1,
        &[
            (Measure::Duration, 5.031034168, 5.031034168, 5.031034168),
            (Measure::ChecksPassed, 3_790.0, 3_790.0, 3_790.0),
        ],
    ),
    (
        "sound/k6-points.json",
        Tool::K6,
        3,
        &[
            (Measure::Requests, 40.0, 40.0, 40.0),
            (Measure::Errors, 0.0, 0.0, 0.0),
            (Measure::Duration, 0.9169314, 0.9149314, 0.9189314),
        ],
    ),
    (
        "sound/loadtest-new-rps.txt",
        Tool::Loadtest,
        1,
        &[
            (Measure::Users, 8.0, 8.0, 8.0),
            (Measure::OfferedRate, 200.0, 199.5, 200.5),
            (Measure::Rate, 200.0, 199.5, 200.5),
            (Measure::Mean, 14.3e-3, 14.25e-3, 14.35e-3),
            (Measure::Duration, 5.0, 4.999, 5.001),
            (P50, 10e-3, 10e-3, 11e-3),
            (Measure::Max, 0.127, 0.127, 0.128),
        ],
    ),
    (
        "sound/loadtest-old-rps.txt",
        Tool::Loadtest,
        1,
        &[
            (Measure::OfferedRate, 100.0, 99.5, 100.5),
            (Measure::Rate, 91.0, 90.5, 91.5),
            (Measure::Requests, 454.0, 454.0, 454.0),
            (P99, 65e-3, 65e-3, 66e-3),
        ],
    ),
    ("sound/loadtest-old-404.txt", Tool::Loadtest, 1, &[(Measure::Errors, 500.0, 500.0, 500.0)]),
    (
        "sound/jmeter-summary-long.txt",
        Tool::Jmeter,
        1,
        &[
            (Measure::Requests, 48_000.0, 48_000.0, 48_000.0),
            (Measure::Mean, 6e-3, 6e-3, 7e-3),
            (Measure::Max, 0.769, 0.769, 0.77),
            (Measure::Errors, 16_000.0, 16_000.0, 16_000.0),
            (Measure::ErrorRatio, 0.3333, 0.33325, 0.33335),
            (Measure::Rate, 2_591.5, 2_591.45, 2_591.55),
            (Measure::Duration, 19.0, 18.5, 19.5),
            (Measure::Users, 20.0, 20.0, 20.0),
        ],
    ),
    (
        "made/jmeter-2-summariser.txt",
        Tool::Jmeter,
        1,
        &[(Measure::Requests, 20_820.0, 20_820.0, 20_820.0), (Measure::Duration, 20.0, 19.95, 20.05)],
    ),
    (
        "sound/jmeter-statistics.json",
        Tool::Jmeter,
        4,
        &[
            (Measure::Requests, 1_800.0, 1_800.0, 1_800.0),
            (Measure::ErrorRatio, 0.33333332, 0.33333325333, 0.33333338667),
            (Measure::Rate, 928.313563692625, 928.313563692625, 928.313563692625),
        ],
    ),
    (
        "sound/jmeter-samples.csv",
        Tool::Jmeter,
        4,
        &[
            (Measure::Requests, 1_800.0, 1_800.0, 1_800.0),
            (Measure::Errors, 600.0, 600.0, 600.0),
            (Measure::Mean, 11.612 / 1_800.0, 11.612 / 1_800.0 - 1e-3, 11.612 / 1_800.0 + 1e-3),
            (Measure::Max, 0.211, 0.21, 0.212),
            (P95, 0.023, 0.022, 0.024),
            (Measure::Duration, 1.939, 1.937, 1.941),
            (Measure::Users, 10.0, 10.0, 10.0),
        ],
    ),
    (
        "sound/jmeter-samples.xml",
        Tool::Jmeter,
        4,
        &[
            (Measure::Requests, 360.0, 360.0, 360.0),
            (Measure::Errors, 120.0, 120.0, 120.0),
            (Measure::Mean, 2.433 / 360.0, 2.433 / 360.0 - 1e-3, 2.433 / 360.0 + 1e-3),
            (Measure::Max, 0.072, 0.071, 0.073),
        ],
    ),
    (
        "sound/hey-resets.txt",
        Tool::Hey,
        1,
        &[
            (Measure::Requests, 1_000.0, 1_000.0, 1_000.0),
            (Measure::Errors, 2.0, 2.0, 2.0),
            (Measure::Mean, 0.0022, 0.00215, 0.00225),
            (Measure::Rate, 4432.4131, 4432.41305, 4432.41315),
            (Measure::BodyBytes, 76.0, 76.0, 77.0),
            (P99, 0.0044, 0.00435, 0.00445),
        ],
    ),
    (
        "sound/oha-rate.txt",
        Tool::Oha,
        1,
        &[
            (Measure::Requests, 500.0, 500.0, 500.0),
            (Measure::Errors, 3.0, 3.0, 3.0),
            (Measure::Mean, 17.2421e-3, 17.24205e-3, 17.24215e-3),
            (Measure::BytesTotal, 145.61 * 1_024.0, 145.605 * 1_024.0, 145.615 * 1_024.0),
            (Measure::Percentile(9_999), 107.0805e-3, 107.08045e-3, 107.08055e-3),
        ],
    ),
    (
        "sound/oha-spread.json",
        Tool::Oha,
        1,
        &[
            (Measure::Rate, 1_321.6052392745405, 1_321.6052392745405, 1_321.6052392745405),
            (P95, 0.04176965, 0.04176965, 0.04176965),
        ],
    ),
    (
        "made/vegeta.txt",
        Tool::Vegeta,
        1,
        &[
            (Measure::Requests, 2_000.0, 2_000.0, 2_000.0),
            (Measure::OfferedRate, 100.05, 100.045, 100.055),
            (Measure::Rate, 99.14, 99.135, 99.145),
            (Measure::Duration, 20.002, 20.0015, 20.0025),
            (Measure::Mean, 15.987e-3, 15.9865e-3, 15.9875e-3),
            (P90, 30.495e-3, 30.4945e-3, 30.4955e-3),
            (Measure::ErrorRatio, 0.0085, 0.00845, 0.00855),
        ],
    ),
    ("made/vegeta-old.txt", Tool::Vegeta, 1, &[(P99, 66.688e-3, 66.6875e-3, 66.6885e-3)]),
    ("made/vegeta-histogram.txt", Tool::Vegeta, 1, &[(Measure::Requests, 2_000.0, 2_000.0, 2_000.0)]),
    (
        "sound/hey-samples.csv",
        Tool::Hey,
        1,
        &[(Measure::Requests, 300.0, 300.0, 300.0), (Measure::Errors, 0.0, 0.0, 0.0)],
    ),
    (
        "made/vegeta.json",
        Tool::Vegeta,
        1,
        &[(Measure::Requests, 2_000.0, 2_000.0, 2_000.0), (Measure::ErrorRatio, 0.0085, 0.0085, 0.0085)],
    ),
];

#[test]
fn every_figure_of_a_tool_is_read_with_its_rounding() {
    for (name, tool, rows, figures) in CASES {
        let document = file(name);
        assert_eq!(document.rows.len(), *rows, "rows of {name}");
        assert!(document.unread.is_empty(), "{name}: {:?}", document.unread);
        let Some(row) = named(&document, name).or(document.rows.first()) else { panic!("no row in {name}") };
        assert_eq!(row.tool, Some(*tool), "{name}");
        for (measure, value, low, high) in *figures {
            let figure = row.figures.get(measure).unwrap_or_else(|| panic!("{name}: {measure:?} is missing"));
            for (read, written) in [(figure.value, value), (figure.low, low), (figure.high, high)] {
                let near = (read - written).abs() <= written.abs() * 1e-7 + 1e-12;
                assert!(near, "{name}: {measure:?} is {figure:?} and not {value} [{low}, {high}]");
            }
            assert!(figure.low <= figure.value && figure.value <= figure.high, "{name}: {figure:?}");
            assert!(figure.line > 0, "{name}: {figure:?}");
        }
    }
}

#[test]
fn every_sound_run_is_read_without_a_remainder() {
    for folder in ["sound", "made"] {
        for entry in std::fs::read_dir(data().join(folder)).expect("the folder is committed") {
            let path = entry.expect("a folder's entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                continue;
            }
            let document = read(&path);
            assert!(!document.rows.is_empty(), "nothing was read in {path:?}");
            assert!(document.unread.is_empty(), "{path:?}: {:?}", document.unread);
            for row in &document.rows {
                assert!(!row.label.is_empty(), "a row without a name in {path:?}");
                assert!(row.lines.0 >= 1 && row.lines.0 <= row.lines.1, "{path:?}: {:?}", row.lines);
            }
        }
    }
}

#[test]
fn words_say_what_figures_cannot() {
    let word = |name: &str, key: &str| {
        let document = file(name);
        document.rows.first().and_then(|row| row.words.get(key)).map(|word| word.text.clone())
    };
    assert_eq!(word("sound/ab-keep-alive.txt", "keep_alive").as_deref(), Some("on"));
    assert_eq!(word("sound/ab-plain.txt", "keep_alive").as_deref(), Some("off"));
    assert_eq!(word("sound/ab-plain.txt", "version").as_deref(), Some("2.3"));
    assert_eq!(word("sound/loadtest-new.txt", "keep_alive").as_deref(), Some("off"));
    assert_eq!(word("sound/loadtest-new-rps.txt", "keep_alive").as_deref(), Some("on"));
    assert_eq!(word("sound/wrk-plain.txt", "url").as_deref(), Some("http://127.0.0.1:18471/page"));
    assert_eq!(word("sound/jmeter-samples.csv", "status_codes").as_deref(), Some("200:1200 404:600"));
    assert_eq!(word("sound/jmeter-samples.csv", "threads").as_deref(), Some("10"));
    assert_eq!(word("sound/k6-tags.txt", "checks").as_deref(), Some("small is 200; page is 200"));
}

#[test]
fn single_samples_give_what_the_whole_run_was() {
    let document = file("sound/jmeter-samples.csv");
    let total = document.rows.first().and_then(|row| row.samples.as_ref()).expect("a JTL has samples");
    assert_eq!((total.count, total.errors, total.runs, total.times.len()), (1_800, 600, 1, 1_800));
    assert!((total.elapsed_sum_s - 11.612).abs() < 1e-9);
    assert_eq!(total.kinds.get("404 Not Found"), Some(&600));
    // Ten threads were started, and a thread does one request at a time.
    assert!((1..=10).contains(&total.concurrent_max), "{}", total.concurrent_max);
}

#[test]
fn reports_given_by_the_environment_are_read_wholly() {
    let Ok(folder) = std::env::var("PLIMSOLL_REPORTS") else {
        println!("skipped: PLIMSOLL_REPORTS names no folder of reports");
        return;
    };
    for entry in std::fs::read_dir(folder).expect("the folder of reports is there") {
        let document = read(&entry.expect("a folder's entry").path());
        let rows = document.rows.iter().filter(|row| row.tool.is_some());
        println!("{}: {} outputs of tools, {} unread", document.name, rows.count(), document.unread.len());
        for unread in &document.unread {
            println!("  line {}: {}: {}", unread.line, unread.what, unread.why);
        }
    }
}

/// Where rows are sorted by label the cases speak of the total.
fn named<'a>(document: &'a Document, file: &str) -> Option<&'a Row> {
    document.rows.iter().find(|row| file.ends_with("statistics.json") && row.label == "Total")
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign")
}

fn file(name: &str) -> Document {
    read(&data().join(name))
}

fn read(path: &Path) -> Document {
    let text = std::fs::read(path).expect("a readable file");
    let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    foreign::read(&name, &String::from_utf8_lossy(&text))
}
