//! Audits in terminals of three widths, in a review comment, as JSON, and in the documentation.

mod fixture;
mod pages;

use crate::output::golden::{check, look};
use fixture::{finding, report};
use plimsoll_audit::{Audit, Grade};
use plimsoll_output::audit as output;

#[test]
fn audits_are_as_committed() {
    let audit = report();
    check("audit-60.txt", &output::terminal(&audit, &look(60, false, true)));
    check("audit-80-ascii.txt", &output::terminal(&audit, &look(80, false, false)));
    check("audit-120.txt", &output::terminal(&audit, &look(120, false, true)));
    check("audit-color.txt", &output::terminal(&audit, &look(100, true, true)));
    check("audit.md", &output::markdown(&audit));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 120] {
        for unicode in [true, false] {
            let text = output::terminal(&report(), &look(width, false, unicode));
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
                assert!(unicode || line.is_ascii(), "{line}");
            }
        }
    }
}

#[test]
fn carets_are_below_the_value_at_every_width() {
    for width in [60, 80, 120] {
        let text = output::terminal(&report(), &look(width, false, true));
        let lines: Vec<&str> = text.lines().collect();
        let mut seen = 0;
        for pair in lines.windows(2).filter(|pair| pair[1].contains('^')) {
            let marked: String =
                pair[0].chars().zip(pair[1].chars()).filter(|(_, m)| *m == '^').map(|(c, _)| c).collect();
            assert!(marked.chars().any(|c| c.is_ascii_digit()), "`{marked}` of {pair:?}");
            assert!(!marked.starts_with(' ') && !marked.ends_with(' '), "{pair:?}");
            seen += 1;
        }
        assert!(seen >= 5, "{seen} underlined lines at {width}:\n{text}");
    }
    // A value is not part of a longer number: 12 and 90, which the joined findings need, not the 2 of 12.
    let text = output::terminal(&report(), &look(80, false, true));
    assert!(text.contains("    │ 12 threads and 90 connections\n    │ ^^             ^^\n"), "{text}");
}

#[test]
fn a_sentence_is_quoted_whole_and_a_number_is_never_underlined_inside_another() {
    let sentence = "the service was warmed up with a handful of requests, and then measured for some time";
    let mut audit = Audit { figures_count: 1, files: vec!["a.md".into()], ..Audit::default() };
    let quote = |line, text: &str| plimsoll_audit::Quote { file: "a.md".into(), line, text: text.into() };
    let mut found = finding(Grade::Implausible, "something");
    found.quotes = vec![quote(1, sentence), quote(2, "0"), quote(3, "5")];
    audit.findings.push(found);
    let lines = [
        (1, sentence.to_owned()),
        (2, "failed: 0.00% 10 0 of 100,0".into()),
        (3, "1.5 and 2,5 and 5.".into()),
    ];
    audit.sources.insert("a.md".into(), lines.into_iter().collect());
    let text = output::terminal(&audit, &look(60, false, true));
    assert!(text.contains("    │ and then measured for some time\n  --> a.md:2"), "{text}");
    assert!(text.contains("    │ failed: 0.00% 10 0 of 100,0\n    │                  ^\n"), "{text}");
    assert!(text.contains("    │ 1.5 and 2,5 and 5.\n    │                 ^\n"), "{text}");
}

#[test]
fn facts_missing_in_several_files_are_reported_once() {
    let quote = |file: &str| plimsoll_audit::Quote { file: file.into(), line: 1, text: "x".into() };
    let gap = |file: &str| {
        let mut gap = finding(Grade::Missing, "no repeats");
        gap.quotes.push(quote(file));
        gap
    };
    let files = vec!["a.md".to_owned(), "b.md".to_owned()];
    let audit =
        Audit { figures_count: 1, files, findings: vec![gap("a.md"), gap("b.md")], ..Audit::default() };
    for text in [output::terminal(&audit, &look(80, false, true)), output::markdown(&audit)] {
        assert_eq!(text.matches("no repeats (a.md, b.md)").count(), 1, "{text}");
    }
}

#[test]
fn the_headline_counts_by_grade() {
    let of = |grades: &[Grade]| {
        let findings = grades.iter().map(|g| finding(*g, "something")).collect();
        output::headline(&Audit { findings, figures_count: 9, rows_count: 1, ..Audit::default() })
    };
    use Grade::{Implausible as Doubt, Impossible as No, Missing as Gap};
    assert_eq!(of(&[No, No, Doubt, Gap]), "2 statements are impossible, 1 is implausible, 1 is missing");
    assert_eq!(of(&[No, Doubt, Doubt]), "1 statement is impossible, 2 are implausible");
    assert_eq!(of(&[Doubt, Gap, Gap]), "no impossible statements, 1 statement is implausible, 2 are missing");
    assert_eq!(of(&[Gap]), "no impossible statements, 1 statement is missing");
    assert_eq!(of(&[]), "no contradictions in 9 numbers");
    assert_eq!(output::headline(&Audit::default()), "no numbers found");
}

#[test]
fn text_of_the_report_cannot_break_out_of_its_place() {
    let mut audit = report();
    audit.findings[0].sentence = "<b>x</b> [a](http://b) | c".into();
    let line = audit.findings[0].quotes[0].line;
    let name = audit.files[0].clone();
    audit.sources.get_mut(&name).unwrap().insert(line, "```` then \u{1b}[31m red 612.50".into());
    let text = output::markdown(&audit);
    assert!(!text.contains("<b>") && !text.contains("[a](http"), "{text}");
    assert!(!text.contains('\u{1b}'));
    // The fence around the quoted line is longer than its backticks.
    assert!(text.contains("  `````text\n"), "{text}");
    assert!(!output::terminal(&audit, &look(80, false, true)).contains('\u{1b}'));
}

#[test]
fn an_audit_with_odd_parts_is_still_shown() {
    let mut bare = finding(Grade::Implausible, "");
    bare.arithmetic = vec![": ".into(), "x".repeat(500), "\t\u{200f}\u{4e2d}".repeat(90)];
    bare.quotes.push(plimsoll_audit::Quote { file: "y".repeat(300), line: 0, text: "z".repeat(400) });
    let audit = Audit { findings: vec![bare], figures_count: 1, ..Audit::default() };
    for width in [0, 60, 80, 120, u16::MAX] {
        assert!(!output::terminal(&audit, &look(width, false, true)).is_empty());
    }
    assert!(!output::markdown(&audit).is_empty());
}

#[test]
fn json_contains_every_finding_with_its_complete_arithmetic() {
    let audit = report();
    let text = output::json(&audit).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let findings = value["findings"].as_array().unwrap();
    assert_eq!(findings.len(), audit.findings.len());
    assert_eq!(findings[0]["grade"], "impossible");
    for (shown, finding) in findings.iter().zip(&audit.findings) {
        assert_eq!(shown["arithmetic"].as_array().unwrap().len(), finding.arithmetic.len());
    }
}
