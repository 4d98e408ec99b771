//! What a comparison looks like, committed, and what its renderers promise for any comparison.

pub mod fixtures;

use crate::output::golden::{check, look};
use plimsoll_experiment::compare::gate::{Gate, Rule, gate};
use plimsoll_output::compare::{github_summary, junit, markdown, terminal};

fn rules() -> Gate {
    let parse = |text: &str| Rule::parse(text).expect("it is a rule");
    Gate { allow: ["response_time p99 < +5%", "throughput > -3%", "error_rate < +0.1%"].map(parse).to_vec() }
}

#[test]
fn comparisons_are_as_committed() {
    for (name, c) in fixtures::all() {
        check(&format!("compare-{name}.txt"), &terminal(&c, &look(100, false, true)));
    }
    for width in [60, 80, 120] {
        check(
            &format!("compare-slower-{width}.txt"),
            &terminal(&fixtures::slower(), &look(width, false, true)),
        );
    }
    check("compare-slower-80-ascii.txt", &terminal(&fixtures::slower(), &look(80, false, false)));
    check("compare-slower-color.txt", &terminal(&fixtures::slower(), &look(100, true, true)));
    let all: Vec<_> = fixtures::all().into_iter().map(|(_, c)| c).collect();
    check("compare.md", &markdown(&all));
    check("compare-summary.md", &github_summary(&all));
    check("compare.xml", &junit(&all, &rules(), None));
    check("compare-default.xml", &junit(&[fixtures::slower()], &Gate::default(), None));
    let slower = [fixtures::slower()];
    let gated = [gate(&slower[0], &rules())];
    check("compare.json", &plimsoll_output::json::comparisons(&slower, &gated).expect("plain data"));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_ascii_is_ascii() {
    for (name, c) in fixtures::all().into_iter().chain([("hostile", fixtures::hostile())]) {
        for width in [60, 70, 80, 93, 100, 120, 300] {
            let text = terminal(&c, &look(width, false, true));
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= usize::from(width.min(120)), "{name} at {width}: {widest}\n{text}");
            let plain = terminal(&c, &look(width, false, false));
            assert!(plain.is_ascii(), "{name} at {width}\n{plain}");
        }
    }
}

#[test]
fn color_only_repeats_what_is_written() {
    for (name, c) in fixtures::all() {
        let colored = terminal(&c, &look(90, true, true));
        let mut bare = String::new();
        let mut rest = colored.as_str();
        while let Some((before, behind)) = rest.split_once("\x1b[") {
            bare.push_str(before);
            rest = behind.split_once('m').expect("a color ends").1;
        }
        bare.push_str(rest);
        let strip = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(strip(&bare), strip(&terminal(&c, &look(90, false, true))), "{name}");
    }
}

#[test]
fn every_figure_verdict_and_doubt_is_in_every_document() {
    for (name, c) in fixtures::all() {
        let documents = [terminal(&c, &look(120, false, true)), markdown(std::slice::from_ref(&c))];
        for document in documents {
            for row in &c.figures {
                let escaped = row.figure.replace('_', "\\_");
                assert!(
                    document.contains(&row.figure) || document.contains(&escaped),
                    "{name}: {}",
                    row.figure
                );
            }
            for doubt in &c.doubts {
                let first = doubt.sentence.split_whitespace().next().unwrap().replace('`', "");
                assert!(document.contains(&first), "{name}: {}", doubt.sentence);
            }
        }
    }
}

#[test]
fn names_from_outside_break_neither_tables_nor_xml() {
    let c = fixtures::hostile();
    let document = markdown(std::slice::from_ref(&c));
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| ")).collect();
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(rows.iter().all(|row| bars(row) == 8), "{document}");
    // A code span shows its text as it is.
    let outside = |line: &str| line.split('`').step_by(2).collect::<String>();
    assert!(!document.lines().any(|line| outside(line).contains("<script>")), "{document}");
    let xml = junit(&[c], &rules(), None);
    assert!(!xml.contains("<script>") && !xml.contains('\u{1}'), "{xml}");
    well_formed(&xml);
    for (_, c) in fixtures::all() {
        well_formed(&junit(std::slice::from_ref(&c), &rules(), None));
        well_formed(&junit(std::slice::from_ref(&c), &Gate::default(), None));
    }
}

#[test]
fn the_counts_of_junit_are_those_of_its_cases() {
    let all: Vec<_> = fixtures::all().into_iter().map(|(_, c)| c).collect();
    let xml = junit(&all, &rules(), None);
    let head = xml.lines().nth(1).unwrap();
    let count = |what: &str| xml.matches(what).count();
    assert!(head.contains(&format!("tests=\"{}\"", count("<testcase "))), "{head}");
    assert!(head.contains(&format!("failures=\"{}\"", count("<failure "))), "{head}");
    assert!(head.contains(&format!("errors=\"{}\"", count("<error "))), "{head}");
    assert!(count("<failure ") > 0 && count("<error ") > 0);
}

/// Tags are closed in the order in which they were opened, and quotes and ampersands stand where they may.
fn well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a head");
    while let Some((text, behind)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        let (tag, after) = behind.split_once('>').expect("a tag ends");
        rest = after;
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name)),
            (None, true) => {}
            (None, false) => open.push(tag.split(' ').next().unwrap_or_default()),
        }
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
    for part in xml.split('&').skip(1) {
        assert!(["lt;", "gt;", "amp;", "quot;", "apos;"].iter().any(|name| part.starts_with(name)), "{part}");
    }
}

#[test]
fn changes_are_drawn_with_their_intervals() {
    for (name, comparison) in fixtures::all() {
        let charts = plimsoll_output::figure::of_comparison(&comparison);
        for chart in &charts {
            let svg = plimsoll_chart::draw(chart, plimsoll_chart::Skin::File);
            assert!(!svg.contains("NaN") && !svg.contains("<script"), "{name}: {svg}");
            if name == "slower" || name == "mixed" {
                check(&format!("figures/{}-{name}.svg", chart.id), &svg);
            }
        }
    }
}
