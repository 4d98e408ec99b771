//! Each rule over several rows, tables or sentences speaks on two texts of different origin, and falls silent once the
//! figure is fixed. A rule that knew a report, or that speaks on everything, would fail here.

mod levels;
mod made;
mod method;
mod sound;
mod tables;

use plimsoll_audit::foreign::read;
use plimsoll_audit::{Finding, across, audit};

/// One rule, a text on which it has to speak, what fixes the text, and a text of another origin.
pub struct Case {
    pub rule: &'static str,
    pub fires: String,
    /// Replaced in the text; several pairs where one figure stands in several places.
    pub fix: &'static [(&'static str, &'static str)],
    pub second: String,
}

pub fn findings(text: &str) -> Vec<Finding> {
    audit(&[read("report.md", text)]).findings
}

fn speaks(rule: &str, text: &str) -> bool {
    findings(text).iter().any(|f| f.rule == rule)
}

fn all() -> Vec<Case> {
    let mut cases = levels::cases();
    cases.extend(tables::cases());
    cases.extend(method::cases());
    cases
}

#[test]
fn every_rule_speaks_twice_and_is_silent_once_mended() {
    // Some texts are outputs of tools, whose readers come with the rules of one row.
    let mut wrong = Vec::new();
    for case in all() {
        let mut fixed = case.fires.clone();
        for (from, to) in case.fix {
            assert!(fixed.contains(from), "{}: the text has no `{from}`", case.rule);
            fixed = fixed.replace(from, to);
        }
        for (what, text, expected) in
            [("fires", &case.fires, true), ("fixed", &fixed, false), ("second", &case.second, true)]
        {
            if speaks(case.rule, text) != expected {
                wrong.push(format!("{} on {what}", case.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let cases = all();
    // This one needs two files: `reduced` has them.
    let has_case = |c: &&str| *c == "figures_differ_from_samples" || cases.iter().any(|case| case.rule == *c);
    let without: Vec<_> = across::RULES.iter().map(|r| r.code).filter(|c| !has_case(c)).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn every_finding_shows_where_it_stands() {
    for case in all() {
        for finding in findings(&case.fires).iter().filter(|f| f.rule == case.rule) {
            assert!(!finding.quotes.is_empty() && !finding.advice.is_empty(), "{finding:?}");
            assert!(!finding.sentence.is_empty() && finding.quotes.iter().all(|q| q.line > 0), "{finding:?}");
        }
    }
}

#[test]
fn a_sound_report_gives_nothing_to_these_rules() {
    let codes: Vec<&str> = across::RULES.iter().map(|r| r.code).collect();
    let found: Vec<_> = findings(made::SOUND)
        .into_iter()
        .filter(|f| codes.contains(&f.rule))
        .map(|f| (f.rule, f.sentence))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn no_figure_makes_a_rule_fall() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    let files = std::fs::read_dir(folder).expect("the fixtures exist");
    let mut texts: Vec<String> =
        files.map(|f| std::fs::read_to_string(f.expect("an entry").path()).expect("a text")).collect();
    texts.extend(all().into_iter().map(|c| c.fires));
    let mut random = plimsoll_stats::random::SplitMix64::new(11);
    let mut below = |n: usize| (random.next_u64() % n.max(1) as u64) as usize;
    let odd =
        ["0", "-1", "1e308", "99999999999999999999999", "NaN", "", "0.0000001", "é", "|", "=", " / 0 = "];
    for round in 0..600 {
        let text = &texts[round % texts.len()];
        let mut words: Vec<&str> = text.split(' ').collect();
        for _ in 0..words.len() / 10 + 1 {
            let at = below(words.len());
            words[at] = odd[below(odd.len())];
        }
        for finding in findings(&words.join(" ")) {
            assert!(!finding.sentence.is_empty());
        }
    }
}
