//! The anomalies of five published reports, retyped as data: `docs/explanation/published-anomalies.md` says which rule
//! finds each, and this test holds the page against what the audit finds. With `PLIMSOLL_REPORTS` naming a folder of
//! the full texts the same is asked of those.

use plimsoll_audit::foreign::read;
use plimsoll_audit::{Audit, Grade, across, audit, row};
use std::path::{Path, PathBuf};

/// One row of a table of the page.
#[derive(Debug)]
struct Known {
    id: String,
    /// Rules, with a text that the finding's sentence or arithmetic holds.
    rules: Vec<(String, String)>,
    grade: String,
    /// Rules in the remark of an anomaly that is found.
    beside: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> Vec<Known> {
    let text = std::fs::read_to_string(root().join("docs/explanation/published-anomalies.md"))
        .expect("the page exists");
    let rows =
        text.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| id") && !l.starts_with("| -"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 5, "five cells: {line}");
        let rules = cells[2].split(", ").filter(|r| r.starts_with('`')).map(|r| {
            let (rule, needle) = r.trim_start_matches('`').split_once('`').expect("a closing back quote");
            (rule.to_owned(), needle.trim().trim_matches(['(', ')']).to_owned())
        });
        let held = cells[2].starts_with('`');
        let quoted = cells[4].split('`').skip(1).step_by(2).filter(|c| held && c.contains('_'));
        let beside = quoted.map(str::to_owned).collect();
        Known { id: cells[0].to_owned(), rules: rules.collect(), grade: cells[3].to_owned(), beside }
    })
    .collect()
}

const FILES: [(&str, &str, &str); 5] = [
    ("A", "cards-wrk.md", "1-cards-wrk.md"),
    ("B", "vper-ab.md", "2-vper-ab.md"),
    ("C", "sunbird-jmeter.md", "3-sunbird-jmeter.md"),
    ("D", "registration-loadtest.md", "4-registration-loadtest.md"),
    ("E", "sse-k6.md", "5-sse-k6.md"),
];

fn audited(path: &Path) -> Audit {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    audit(&[read(&path.display().to_string(), &text)])
}

fn grade(name: &str) -> Grade {
    match name {
        "impossible" => Grade::Impossible,
        "implausible" => Grade::Implausible,
        "missing" => Grade::Missing,
        other => panic!("no grade: {other}"),
    }
}

/// What a rule found, as one text for each finding.
fn found(audit: &Audit, rule: &str) -> Vec<(Grade, String)> {
    let findings = audit.findings.iter().filter(|f| f.rule == rule || f.also.contains(&rule));
    findings.map(|f| (f.grade, format!("{}\n{}", f.sentence, f.arithmetic.join("\n")))).collect()
}

/// Anomalies of one file that are not found as the page says.
fn lost(prefix: &str, audit: &Audit, full_text: bool) -> Vec<String> {
    let mut lost = Vec::new();
    for known in page().iter().filter(|k| k.id.starts_with(prefix)) {
        for rule in known.beside.iter().filter(|_| !full_text) {
            if found(audit, rule).is_empty() {
                lost.push(format!("{} by `{rule}`", known.id));
            }
        }
        for (rule, needle) in &known.rules {
            // Logs that lie beside a report are no part of its full text.
            if full_text && needle.starts_with("log: ") {
                continue;
            }
            let needle = needle.trim_start_matches("log: ");
            let of_rule = found(audit, rule);
            let fits = |(g, text): &(Grade, String)| *g == grade(&known.grade) && text.contains(needle);
            if !of_rule.iter().any(fits) {
                lost.push(format!("{} by `{rule}` with `{needle}`: {of_rule:?}", known.id));
            }
        }
    }
    lost
}

#[test]
fn the_page_lists_every_anomaly_and_names_real_rules() {
    // Half of the anomalies are found by rules of one row in outputs of tools.
    let ids: Vec<String> = page().into_iter().map(|k| k.id).collect();
    let all = [("A", 11), ("B", 10), ("C", 18), ("D", 7), ("E", 10)];
    let expected: Vec<String> =
        all.iter().flat_map(|(p, n)| (1..=*n).map(move |i| format!("{p}{i}"))).collect();
    assert_eq!(ids, expected);
    let codes: Vec<&str> = row::RULES.iter().chain(across::RULES).map(|r| r.code).collect();
    for known in page() {
        for rule in known.rules.iter().map(|(rule, _)| rule).chain(&known.beside) {
            assert!(codes.contains(&rule.as_str()), "{}: there is no rule `{rule}`", known.id);
        }
    }
}

#[test]
fn each_anomaly_is_found_in_the_facts_by_the_rule_that_the_page_names() {
    // Half of the anomalies are found by rules of one row in outputs of tools.
    for (prefix, file, _) in FILES {
        let audit = audited(&root().join("crates/audit/tests/data/published").join(file));
        let lost = lost(prefix, &audit, false);
        assert!(lost.is_empty(), "{file}:\n{}", lost.join("\n"));
    }
}

#[test]
fn full_texts_show_the_same_as_the_facts() {
    // Half of the anomalies are found by rules of one row in outputs of tools.
    let Some(folder) = std::env::var_os("PLIMSOLL_REPORTS") else {
        println!("PLIMSOLL_REPORTS is not set: only the retyped facts were audited");
        return;
    };
    for (prefix, _, report) in FILES {
        let lost = lost(prefix, &audited(&Path::new(&folder).join(report)), true);
        assert!(lost.is_empty(), "{report}:\n{}", lost.join("\n"));
    }
}
