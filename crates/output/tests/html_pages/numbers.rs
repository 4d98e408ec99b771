//! Numbers on pages match those of the terminal to the digit, and each carries its full value.

use crate::compare::fixtures as compared;
use crate::html::dom::{Dom, Element};
use crate::html_pages::fixtures::{
    LEVELS, REPORT, audited, dom, files, of_audit, of_comparisons, of_experiment, search, sweep,
};
use plimsoll_output::{Look, compare, experiment};

fn look() -> Look {
    Look { color: false, width: 200, unicode: true }
}

/// The cells of a table, row by row, without the header.
fn rows(dom: &Dom, id: &str) -> Vec<Vec<Element>> {
    let table = dom.by_id(id).unwrap_or_else(|| panic!("no table {id}"));
    let body = table.below("tbody").remove(0);
    let cells =
        |row: &Element| -> Vec<Element> { row.below("th").into_iter().chain(row.below("td")).collect() };
    body.below("tr").iter().map(cells).collect()
}

fn raw(cell: &Element) -> Option<f64> {
    cell.attribute("data-v").map(|text| text.parse().expect("a number"))
}

#[test]
fn cells_of_a_sweep_have_the_texts_of_the_terminal_and_the_values_of_the_document() {
    let c = sweep("users");
    let page = of_experiment(&c, &files("users"));
    let dom = dom(&page);
    let terminal = experiment::terminal(&c, &look(), None);
    let rows = rows(&dom, "table-cells");
    assert_eq!(rows.len(), LEVELS.len());
    let table = &c.study.as_ref().unwrap().table;
    for ((row, cell), line) in rows.iter().zip(table).zip(["1 ", "4 ", "16 ", "64 "]) {
        let line = terminal.lines().find(|l| l.trim_start().starts_with(line) && l.contains("/s")).unwrap();
        for at in [1, 3, 5, 8] {
            assert!(line.contains(&row[at].text()), "`{}` is not in\n{line}", row[at].text());
        }
        assert_eq!(raw(&row[1]), cell.rate_per_s.value);
        assert_eq!(raw(&row[8]), cell.p99_ns.value);
    }
}

#[test]
fn a_changed_number_and_swapped_columns_are_detected() {
    let texts = |c: &plimsoll_experiment::conclusion::Conclusion| -> Vec<String> {
        let page = of_experiment(c, &[]);
        rows(&dom(&page), "table-cells")[2].iter().map(Element::text).collect()
    };
    let before = texts(&sweep("users"));
    let mut changed = sweep("users");
    let cell = &mut changed.study.as_mut().unwrap().table[2];
    cell.rate_per_s.value = Some(2_030.0);
    std::mem::swap(&mut cell.p50_ns, &mut cell.p99_ns);
    let after = texts(&changed);
    assert_ne!(before[1], after[1]);
    assert_eq!((&before[5], &before[8]), (&after[8], &after[5]));
}

#[test]
fn a_search_shows_its_capacity_its_confirmation_and_why_it_ended() {
    let c = search();
    let page = of_experiment(&c, &[]);
    let dom = dom(&page);
    let text = dom.all("main")[0].text();
    for said in ["capacity is 1,000 arrivals/s with", "95% CI 980 to 1,020", "api cpu"] {
        assert!(text.contains(said), "`{said}` is missing in\n{text}");
    }
    let steps = rows(&dom, "table-steps-1");
    assert_eq!(steps.len(), 4);
    assert_eq!(raw(&steps[3][6]), Some(900e6));
    assert!(steps[3][8].text().contains("missed, backlog grew"));
    assert_eq!(rows(&dom, "table-curve-1").len(), 3);
}

#[test]
fn every_metric_of_a_comparison_has_its_interval_and_its_p_value() {
    for (name, one) in compared::all() {
        let page = of_comparisons(std::slice::from_ref(&one));
        let dom = dom(&page);
        let terminal = compare::terminal(&one, &look());
        for (row, figure) in rows(&dom, "table-figures").iter().zip(&one.figures) {
            let texts: Vec<String> = row.iter().map(Element::text).collect();
            assert_eq!(texts[0], figure.figure, "{name}");
            for at in [1, 2, 3, 4] {
                assert!(terminal.contains(&texts[at]), "{name}: `{}` is not in\n{terminal}", texts[at]);
            }
            assert_eq!(raw(&row[3]), figure.difference, "{name}");
            assert!(figure.p_adjusted.is_some() || texts[5] == "-", "{name}: {}", texts[5]);
        }
        let text = dom.all("main")[0].text();
        for doubt in &one.doubts {
            assert!(text.contains(doubt.code), "{name}: {}", doubt.code);
        }
        assert!(text.contains("adjusted together"), "{name}");
    }
}

#[test]
fn an_audit_marks_values_in_their_rows_and_quotes_their_lines() {
    let (found, documents) = audited(REPORT);
    let page = of_audit(REPORT);
    let dom = dom(&page);
    assert!(found.worst().is_some(), "the report has contradictions");
    for at in 0..found.findings.len() {
        let finding = &found.findings[at];
        let text = dom.all("main")[0].text();
        let bare = finding.sentence.replace('`', "");
        assert!(text.contains(&bare), "{bare}");
        for line in &finding.arithmetic {
            let told = line.split(": ").last().unwrap_or(line);
            assert!(text.contains(told), "{line}");
        }
    }
    let rows = rows(&dom, "table-rows");
    assert_eq!(rows.len(), documents.iter().map(|d| d.rows.len()).sum::<usize>());
    let marked: Vec<String> =
        dom.by_id("table-rows").unwrap().below("mark").iter().map(Element::text).collect();
    assert!(
        marked.iter().any(|text| text == "90.0") && marked.iter().any(|text| text == "80.0"),
        "{marked:?}"
    );
    assert!(!marked.iter().any(|text| text == "99.5"), "a value without a finding: {marked:?}");
    let mean = rows.iter().flatten().find(|cell| cell.text() == "99.5").expect("as written");
    assert!((raw(mean).unwrap() - 0.0995).abs() < 1e-12, "in seconds: {:?}", raw(mean));
}
