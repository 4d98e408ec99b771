//! The script of a page formats numbers with a port of the rules here. This table of values with their texts is
//! committed, and the script's tests compare with it, so that a changed rule shows up there. `UPDATE_GOLDEN=1` rewrites
//! it.

use plimsoll_output::format;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Values around every border of a rule, and ties: 1.125 us is exactly between two texts.
const TIMES_NS: [u64; 30] = [
    0,
    1,
    7,
    999,
    1_000,
    1_004,
    1_005,
    1_125,
    1_135,
    9_994,
    9_995,
    9_996,
    12_250,
    12_350,
    99_950,
    812_499,
    999_499,
    999_500,
    8_140_000,
    1_320_000_000,
    9_995_000_000,
    59_949_999_999,
    75_250_000_000,
    99_949_999_999,
    99_950_000_000,
    125_400_000_000,
    125_500_000_000,
    3_599_600_000_000,
    3_725_000_000_000,
    32_400_000_000_000,
];

const VALUES: [f64; 40] = [
    0.0,
    0.001,
    0.0125,
    0.125,
    0.12345,
    0.375,
    0.5,
    0.625,
    0.9995,
    0.9996,
    1.0,
    1.005,
    1.125,
    1.25,
    1.87,
    2.5,
    3.5,
    9.994,
    9.995,
    10.05,
    12.25,
    12.75,
    33.333,
    81.44,
    98.75,
    99.949,
    99.95,
    100.25,
    277.75,
    997.0,
    999.4,
    999.5,
    1000.4,
    1234.5,
    3333.25,
    4812.5,
    72180.0,
    1_234_567.5,
    9.5e9,
    1.5e21,
];

const RATIOS: [f64; 20] = [
    0.0,
    0.000_001,
    0.000_012_3,
    0.0013,
    0.005,
    0.010_25,
    0.1,
    0.125,
    0.25,
    0.333_333,
    0.5,
    0.974,
    0.979_99,
    0.98,
    0.9896,
    0.999_97,
    0.999_999_999_999,
    1.0,
    1.0625,
    12.5,
];

const COUNTS: [u64; 10] =
    [0, 1, 12, 999, 1_000, 72_180, 683_000, 1_210_000_000, 9_995_000, 9_007_199_254_740_991];

const QUANTILES: [f64; 9] = [0.0, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999_99];

fn rows<T: Copy + serde::Serialize>(values: &[T], text: impl Fn(T) -> String) -> Value {
    values.iter().map(|value| json!([value, text(*value)])).collect()
}

fn table() -> String {
    let negative: Vec<f64> = VALUES.iter().map(|value| -value).filter(|value| *value != 0.0).collect();
    let both = [&VALUES[..], &negative].concat();
    let times_f64: Vec<f64> = TIMES_NS.iter().flat_map(|ns| [*ns as f64, *ns as f64 + 0.25]).collect();
    let columns = [
        ("durationNs", rows(&TIMES_NS, format::duration_ns)),
        ("durationF64Ns", rows(&times_f64, format::duration_f64_ns)),
        ("chosenNs", rows(&TIMES_NS, format::chosen_ns)),
        ("chosenS", rows(&VALUES[..39], format::chosen_s)),
        ("quantity", rows(&both, format::quantity)),
        ("ratePerS", rows(&VALUES, format::rate_per_s)),
        ("count", rows(&COUNTS, format::count)),
        ("ratio", rows(&RATIOS, format::ratio)),
        ("bytes", rows(&COUNTS, format::bytes)),
        ("bytesF64", rows(&both, format::bytes_f64)),
        ("bytesPerS", rows(&VALUES, format::bytes_per_s)),
        ("quantileName", rows(&QUANTILES, format::quantile_name)),
        ("trimmedValue", rows(&both, plimsoll_plan::phrase::trimmed_value)),
        ("cores", rows(&VALUES, |v| plimsoll_plan::phrase::watched(v, plimsoll_plan::watch::Unit::Cores))),
    ];
    let columns: Map<String, Value> =
        columns.into_iter().map(|(name, rows)| (name.to_owned(), rows)).collect();
    // One row per line, so that a diff shows the changed number.
    let mut text = String::from("{\n");
    for (at, (name, rows)) in columns.iter().enumerate() {
        let rows: Vec<String> =
            rows.as_array().into_iter().flatten().map(|row| format!("    {row}")).collect();
        let comma = if at + 1 < columns.len() { "," } else { "" };
        text += &format!("  \"{name}\": [\n{}\n  ]{comma}\n", rows.join(",\n"));
    }
    text + "}\n"
}

#[test]
fn the_table_for_the_script_matches_the_printed_numbers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/web/shared/formats.json");
    let text = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the source tree is writable");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == text,
        "crates/ui/web/shared/formats.json differs from the printed numbers: set UPDATE_GOLDEN=1, and fix \
         shared/format.ts"
    );
}
