//! Errors, diagnostics, and the output of `doctor`.

use plimsoll_output::doctor::{DoctorRow, State};
use plimsoll_output::line::width;
use plimsoll_output::{Look, diag, doctor, error};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key;

const LOOK: Look = Look { color: false, width: 60, unicode: true };

fn text(line: u32, column: u32, excerpt: &str) -> Place {
    Place::Text { file: "plan.yaml".into(), line, column, excerpt: excerpt.into() }
}

#[test]
fn a_mistake_in_a_file_shows_its_line_with_a_caret_under_the_place() {
    let d = Diagnostic::new(
        "P006",
        text(12, 16, "  connections: 0"),
        "a number of 0 sends nothing",
        "give at least 1",
    );
    assert_eq!(
        diag::render(&[d], &LOOK),
        "error[P006]: a number of 0 sends nothing\n   --> plan.yaml:12:16\n12 |   connections: 0\n\
         \x20  |                ^\n  help: give at least 1\n"
    );
}

#[test]
fn a_mistake_in_a_flag_names_the_flag() {
    let d = Diagnostic::new("P008", Place::Flag("-n".into()), "10 requests over 100 connections", "");
    assert_eq!(diag::render(&[d], &LOOK), "error[P008]: -n: 10 requests over 100 connections\n");
    let d = Diagnostic::field("P001", key::TARGET, "there is no target", "name one");
    assert_eq!(diag::render(&[d], &LOOK), "error[P001]: target: there is no target\n  help: name one\n");
}

#[test]
fn the_caret_finds_its_place_after_tabs_and_wide_letters_and_in_long_lines() {
    for (column, excerpt) in
        [(3, "\t\tX"), (5, "日本: X"), (301, &format!("{}X{}", "a".repeat(300), "b".repeat(300)))]
    {
        let shown = diag::render(&[Diagnostic::new("P1", text(1, column, excerpt), "m", "")], &LOOK);
        let lines: Vec<&str> = shown.lines().collect();
        let place = width(&lines[2][..lines[2].find('X').unwrap()]);
        assert_eq!(width(&lines[3][..lines[3].find('^').unwrap()]), place, "{shown}");
        assert!(lines.iter().all(|l| width(l) <= 60), "{shown}");
    }
}

#[test]
fn a_place_past_the_end_or_without_text_causes_no_panic() {
    for (line, column, excerpt) in [(0, 0, ""), (1, 900, "short"), (u32::MAX, u32::MAX, "x"), (1, 1, "\n\n")]
    {
        let shown = diag::render(&[Diagnostic::new("P1", text(line, column, excerpt), "m", "h")], &LOOK);
        assert!(shown.contains("plan.yaml"));
    }
}

#[test]
fn several_mistakes_are_separated() {
    let one = Diagnostic::new("P1", Place::Whole, "a", "");
    assert_eq!(diag::render(&[one.clone(), one], &LOOK), "error[P1]: a\n\nerror[P1]: a\n");
}

#[test]
fn an_error_is_a_sentence_and_a_hint() {
    let expected = "error: `a.plim` exists already\n  help: name another file\n";
    assert_eq!(error::render("`a.plim` exists already", Some("name another file"), &LOOK), expected);
    let two = "error: a b\n  help: c\n  help: d\n";
    assert_eq!(
        error::render("a\nb", Some("c\n\nd"), &LOOK),
        two,
        "each hint on its own line, and none from the message"
    );
    assert_eq!(error::render("no more", None, &LOOK), "error: no more\n");
    assert!(!error::render("a\x1b[2J", None, &LOOK).contains('\x1b'));
}

#[test]
fn doctor_aligns_its_rows_and_shows_fixes() {
    let row = |name: &str, value: &str, state, advice: Option<&str>| DoctorRow {
        name: name.into(),
        value: value.into(),
        state,
        advice: advice.map(Into::into),
    };
    let rows = [
        row(
            "open files",
            "256 (hard limit 256)",
            State::Bad,
            Some("raise the hard limit: `ulimit -Hn 65536`"),
        ),
        row("cores", "2", State::Good, None),
        row("clock", "acpi_pm", State::Notice, Some("reading it costs a system call")),
    ];
    assert_eq!(
        doctor::render(&rows, &LOOK),
        "✗  open files  256 (hard limit 256)\n               → raise the hard limit: `ulimit -Hn 65536`\n\
         ✓  cores       2\n!  clock       acpi_pm\n               → reading it costs a system call\n\n\
         1 problem to fix before large tests, 1 note\n"
    );
    assert!(doctor::render(&rows[1..2], &LOOK).contains("ready"));
    assert!(doctor::render(&rows, &Look { unicode: false, ..LOOK }).is_ascii());
}
