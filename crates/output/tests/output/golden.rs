//! What is printed, committed: a change of any report shows up in review as text. `UPDATE_GOLDEN=1` rewrites the files.

use crate::output::fixtures;
use plimsoll_output::{Look, csv, json, markdown, ndjson, terminal, terminal::Detail};
use std::path::Path;

pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == text,
        "tests/golden/{name} differs from what is printed now; look at it with UPDATE_GOLDEN=1 and `git diff`"
    );
}

pub fn look(width: u16, color: bool, unicode: bool) -> Look {
    Look { color, width, unicode }
}

#[test]
fn terminal_reports_are_as_committed() {
    let file = Some("runs/2026-11-21-032100-lab-1-k3f9.plim");
    for (name, s) in fixtures::all() {
        check(
            &format!("summary-{name}.txt"),
            &terminal::summary(&s, &look(100, false, true), Detail::Full, file),
        );
        check(
            &format!("screen-{name}.txt"),
            &terminal::summary(&s, &look(100, false, true), Detail::Screen, file),
        );
    }
    let fail = fixtures::fail();
    check(
        "summary-pass-80.txt",
        &terminal::summary(&fixtures::pass(), &look(80, false, true), Detail::Full, file),
    );
    check(
        "summary-fail-80-ascii.txt",
        &terminal::summary(&fail, &look(80, false, false), Detail::Full, file),
    );
    check("summary-fail-80.txt", &terminal::summary(&fail, &look(80, false, true), Detail::Full, file));
    check(
        "summary-watched-60-ascii.txt",
        &terminal::summary(&fixtures::watched(), &look(60, false, false), Detail::Full, file),
    );
    check("screen-fail-80.txt", &terminal::summary(&fail, &look(80, false, true), Detail::Screen, file));
    check(
        "screen-fail-80-ascii.txt",
        &terminal::summary(&fail, &look(80, false, false), Detail::Screen, file),
    );
    let color = terminal::summary(&fixtures::inconclusive(), &look(100, true, true), Detail::Full, file);
    check("summary-inconclusive-color.txt", &color);
}

#[test]
fn documents_are_as_committed() {
    let fail = fixtures::fail();
    check("summary.md", &markdown::to_string(&fail));
    check("timeline.csv", &csv::to_string(&fail));
    check("timeline.ndjson", &ndjson::to_string(&fail).unwrap());
    let shop = fixtures::shop();
    check("summary-shop.md", &markdown::to_string(&shop));
    check("timeline-shop.csv", &csv::to_string(&shop));
    let watched = fixtures::watched();
    check("summary-watched.md", &markdown::to_string(&watched));
    check("timeline-watched.csv", &csv::to_string(&watched));
    check("timeline-watched.ndjson", &ndjson::to_string(&watched).unwrap());
    check("summary.json", &json::to_string(&fail).unwrap());
}
