//! Kept run files of formats 1, 2, and 3: every later version must read them with the same results.
//!
//! `PLIMSOLL_BLESS=1 cargo test -p plimsoll-analysis --test surface golden` rewrites the expected summary. The run
//! file itself is never rewritten: a new format adds a new one.

use plimsoll_analysis::summarise;
use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{RunEvent, Sink};
use plimsoll_record::record::SideTotals;
use plimsoll_record::run_file::{FORMAT_VERSION, RunFile, read};
use plimsoll_stats::Tally;
use plimsoll_testkit::made_up::metrics::{opened, tick_with, values};
use plimsoll_testkit::made_up::{Folder, Random, ending, forget_checksums, interval, note, opening};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn is_blessing() -> bool {
    std::env::var_os("PLIMSOLL_BLESS").is_some()
}

/// The run in `v2.plim.golden` and `v3.plim.golden`, and, without opened series, in `v1.plim.golden`.
fn make(path: &Path, opens: bool) {
    let opening = opening("0123456789abcdef", 2);
    let mut random = Random::new(1);
    let mut writer = RunFile::create(path, &opening).unwrap();
    writer.event(&RunEvent::Opened(opening.into()));
    let keys = Family::CUSTOM.map(|family| SeriesKey::new(family, "metric", &[("shop", "a"), ("kind", "x")]));
    for number in (0..14).filter(|number| *number != 9) {
        let second = interval(number, 2, 40, &mut random);
        // One of them is opened with each second after the fifth.
        let known = if opens { (number as usize).saturating_sub(4).min(keys.len()) } else { 0 };
        if (5..9).contains(&number) && opens {
            writer.event(&opened(2 + number - 5, &keys[known - 1]));
        }
        let mut random = Random::new(u64::from(number) + 100);
        let cells = keys[..known].iter().map(|key| values(key.family, 3.0, u64::from(number), &mut random));
        writer.event(&tick_with(second, &keys[..known], cells.collect()));
    }
    writer.event(&note(13, "interrupted"));
    writer.event(&ending(13));
    assert!(writer.finish().trouble.is_none());
}

/// The values of a summary. Its wording and its cautions may improve, but measured values must not change.
fn figures(path: &Path) -> Value {
    let mut summary = serde_json::to_value(summarise(&read(path).unwrap())).unwrap();
    strip(&mut summary);
    summary
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !["verdict", "cautions", "sentence", "reason"].contains(&key.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Checks that all earlier fields of the summary are unchanged; new ones may be added.
fn assert_holds(now: &Value, then: &Value, path: &str) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            // The wording of a caution may improve.
            for (key, value) in
                then.iter().filter(|(key, _)| !(key.as_str() == "text" && path.contains(".doubts[")))
            {
                let found = now.get(key).unwrap_or_else(|| panic!("{path}.{key} is gone"));
                assert_holds(found, value, &format!("{path}.{key}"));
            }
        }
        (Value::Array(now), Value::Array(then)) => {
            assert_eq!(now.len(), then.len(), "{path}");
            for (k, (now, then)) in now.iter().zip(then).enumerate() {
                assert_holds(now, then, &format!("{path}[{k}]"));
            }
        }
        (Value::Number(now), Value::Number(then)) => {
            let (now, then) = (now.as_f64().unwrap(), then.as_f64().unwrap());
            // The last digits of logarithms and roots depend on the platform.
            assert!((now - then).abs() <= then.abs() * 1e-9, "{path}: {now} instead of {then}");
        }
        _ => assert_eq!(now, then, "{path}"),
    }
}

/// Written by the last version of format 1: checks, groups, and streams, whose series had the cells of requests.
#[test]
fn a_scripted_run_of_format_1_has_unchanged_results() {
    has_unchanged_results("v1-scripted");
}

#[test]
fn a_run_file_of_format_1_has_unchanged_results() {
    has_unchanged_results("v1");
}

#[test]
fn a_run_file_of_format_2_has_unchanged_results() {
    has_unchanged_results("v2");
}

#[test]
fn a_run_file_of_format_3_has_unchanged_results() {
    let file = golden("v3.plim.golden");
    if is_blessing() && !file.exists() {
        make(&file, true);
    }
    has_unchanged_results("v3");
}

fn has_unchanged_results(version: &str) {
    let file = golden(&format!("{version}.plim.golden"));
    let folder = Folder::new(&format!("golden-{version}"));
    let copy = folder.file("run.plim");
    std::fs::copy(&file, &copy).unwrap();
    let summary = figures(&copy);
    let expected = golden(&format!("{version}.json"));
    if is_blessing() {
        std::fs::write(&expected, format!("{summary:#}\n")).unwrap();
    }
    let then: Value = serde_json::from_str(&std::fs::read_to_string(&expected).unwrap()).unwrap();
    assert_holds(&summary, &then, "summary");
}

#[test]
fn a_run_of_format_2_is_the_run_of_format_3_with_other_names() {
    let folder = Folder::new("golden-renamed");
    let (old, new) = (folder.file("old.plim"), folder.file("new.plim"));
    std::fs::copy(golden("v2.plim.golden"), &old).unwrap();
    make(&new, true);
    assert_equal(read(&old).unwrap(), read(&new).unwrap());
}

#[test]
fn this_version_still_writes_format_3() {
    assert_eq!(FORMAT_VERSION, 3, "a new format needs its own golden file");
    let folder = Folder::new("golden-third");
    let (old, new) = (folder.file("old.plim"), folder.file("new.plim"));
    std::fs::copy(golden("v3.plim.golden"), &old).unwrap();
    make(&new, true);
    assert_equal(read(&old).unwrap(), read(&new).unwrap());
    assert_eq!(tables(&old), tables(&new));
}

#[test]
fn this_version_still_writes_the_rows_of_format_1() {
    let folder = Folder::new("golden-rewritten");
    let (old, new) = (folder.file("old.plim"), folder.file("new.plim"));
    std::fs::copy(golden("v1.plim.golden"), &old).unwrap();
    make(&new, false);
    assert_same(read(&old).unwrap(), read(&new).unwrap());
    // Tables and checksums were added, and the earlier ones are unchanged.
    forget_checksums(&rusqlite::Connection::open(&new).unwrap());
    let now = tables(&new);
    tables(&old).iter().for_each(|then| assert!(now.contains(then), "{then}"));
}

/// Metrics are appended, so a current row may be wider: the common cells must be equal, and the additional ones must be
/// empty.
fn assert_equal(mut old: RunRecord, mut new: RunRecord) {
    take_equal_ticks(&mut old, &mut new, |side| side);
    assert_eq!(old, new);
}

fn take_equal_ticks(old: &mut RunRecord, new: &mut RunRecord, as_then: impl Fn(SideTotals) -> SideTotals) {
    for (name, then) in &mut old.generators {
        let now = new.generators.get_mut(name).expect("the same origins");
        let (then_ticks, now_ticks) = (std::mem::take(&mut then.ticks), std::mem::take(&mut now.ticks));
        assert!(then_ticks.keys().eq(now_ticks.keys()));
        for (then_row, now_row) in then_ticks.values().zip(now_ticks.values()) {
            assert_eq!((then_row.run(), then_row.all()), (now_row.run(), now_row.all()));
            let outline = &then.opening.outline;
            assert_eq!(then_row.alongside(outline), as_then(now_row.alongside(outline)));
        }
        then.totals.series.iter_mut().chain(&mut now.totals.series).for_each(take_empty_cells);
    }
}

/// Takes away the last cells that are empty: a request has more of them than in earlier versions.
fn take_empty_cells(tally: &mut Tally) {
    let used = tally.hists.iter().rposition(|hist| !hist.is_empty()).map_or(0, |last| last + 1);
    tally.hists = tally.hists[..used].into();
    let used = tally.sums.iter().rposition(|sum| *sum > 0).map_or(0, |last| last + 1);
    tally.sums = tally.sums[..used].into();
}

fn assert_same(mut old: RunRecord, mut new: RunRecord) {
    // From before successes and failures were written.
    take_equal_ticks(&mut old, &mut new, |side| SideTotals { served: Vec::new(), ..side });
    // A default threshold that did not exist then.
    for now in new.generators.values_mut() {
        let opening = std::sync::Arc::make_mut(&mut now.opening);
        opening.outline.thresholds.retain(|rule| rule.text != "longest_outage < 1s");
    }
    assert_eq!(old, new);
}

fn tables(path: &Path) -> Vec<String> {
    let db = rusqlite::Connection::open(path).unwrap();
    let mut all = db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").unwrap();
    let rows = all.query_map((), |row| row.get(0)).unwrap();
    rows.map(|sql: rusqlite::Result<String>| sql.unwrap().split_whitespace().collect()).collect()
}
