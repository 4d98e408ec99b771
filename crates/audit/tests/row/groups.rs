//! One cause is one finding; what is quoted can be found; totals and samples.

use crate::row::fixture::{document, found, row};
use plimsoll_audit::foreign::model::{Claim, Samples, Table};
use plimsoll_audit::foreign::{Document, Measure, Row};
use plimsoll_audit::{Certainty, Grade, audit};

fn has(rows: Vec<Row>, rule: &str) -> bool {
    found(rows).findings.iter().any(|f| f.rule == rule || f.also.contains(&rule))
}

#[test]
fn rows_of_one_table_with_the_same_fault_are_one_finding() {
    let part = |name: &str, table| {
        let text = format!("table label={name} requests=900000 mean=300ms p95=200ms");
        Row { table: Some(table), ..row(&text) }
    };
    let mut document = document(vec![part("a", 0), part("b", 0), part("c", 1)]);
    document.tables = vec![Table { caption: "first".into(), ..Table::default() }, Table::default()];
    let audit = audit(&[document]);
    let found: Vec<_> = audit.findings.iter().filter(|f| f.rule == "mean_above_high_percentile").collect();
    assert_eq!(found.len(), 2, "one for each table");
    assert_eq!(found[0].sentence, "the mean lies above a high percentile in 2 rows of `first`: a and b");
    assert!(found[0].arithmetic.iter().any(|line| line.starts_with("b: mean 300 ms > p95 200 ms")));
    assert!(found[1].sentence.starts_with("c: the mean lies above p95"));
}

#[test]
fn a_finding_shows_what_is_written_and_can_be_calculated_by_hand() {
    let audit = found(vec![row("hey label=/x rate=612.50 mean=201.30ms users=90")]);
    let finding = &audit.findings[0];
    assert_eq!((finding.grade, finding.certainty), (Grade::Impossible, Certainty::Proved));
    assert_eq!(finding.arithmetic[0], "612.5/s x 201.3 ms = 123 in flight > 90 workers");
    assert_eq!(finding.arithmetic[1], "the mean can be 90 / 612.5/s = 146.94 ms at most");
    let quoted: Vec<&str> = finding.quotes.iter().map(|q| q.text.as_str()).collect();
    assert_eq!(quoted, ["612.50", "201.30ms", "90"]);
    assert_eq!(audit.worst(), Some(Grade::Impossible));
    assert_eq!(found(vec![]).worst(), None);
}

#[test]
fn the_quoted_lines_are_kept_with_their_numbers() {
    let mut with_text = document(vec![row("hey mean=52.0ms max=48.0ms")]);
    with_text.text = "mean 52.0ms, max 48.0ms\nnothing\n".into();
    let audit = audit(&[with_text]);
    assert_eq!(audit.sources["run.txt"][&1], "mean 52.0ms, max 48.0ms");
    assert_eq!(audit.sources["run.txt"].len(), 1, "only what is quoted");
}

#[test]
fn the_tail_that_a_mean_needs_is_said() {
    let audit = found(vec![row("table requests=600000 mean=494ms p95=190ms p99=1030ms")]);
    let finding = audit.findings.iter().find(|f| f.rule == "mean_above_high_percentile").expect("494 > 190");
    // (0.4935 - 0.95 x 0.1905 - 0.04 x 1.0305) / 0.01 s, less what two ranks of 600,000 shift.
    assert!(
        finding.arithmetic[1].contains("the slowest 1% would need a mean of 27.1"),
        "{:?}",
        finding.arithmetic
    );
    assert!(finding.explanation.contains("20,000"));
}

#[test]
fn time_outs_bound_the_percentiles_above_their_share() {
    let audit = found(vec![row("wrk requests=17000 timeouts=340 p90=1.10s p99=1.80s max=2.00s")]);
    let finding = audit.findings.iter().find(|f| f.rule == "timeouts_left_out").expect("340 timed out");
    assert_eq!(finding.sentence, "a row: p99 leaves out 340 time-outs, which are slower");
    let expected = "340 / 17,000 = 2% timed out: from p98 on every percentile is at least the time-out";
    assert_eq!(finding.arithmetic[0], expected);
    assert_eq!(finding.arithmetic[1], "the stated p99 (1.8 s) is p97 of all requests");
    // 1 in 1000: p99 still holds, and the sentence accuses no percentile.
    let audit = found(vec![row("wrk requests=17000 timeouts=17 p99=1.80s")]);
    let finding = audit.findings.iter().find(|f| f.rule == "timeouts_left_out").expect("17 timed out");
    assert_eq!(finding.sentence, "a row: 17 time-outs are in no percentile");
}

#[test]
fn a_percentile_out_of_order_is_held_against_the_largest_before_it() {
    let audit = found(vec![row("table min=50ms p50=60ms p75=55ms p90=40ms")]);
    let finding = audit.findings.iter().find(|f| f.rule == "percentiles_out_of_order").expect("60 > 40");
    assert_eq!(finding.arithmetic, ["the median 60 ms > p75 55 ms", "the median 60 ms > p90 40 ms"]);
}

#[test]
fn lost_answers_are_told_by_their_bytes() {
    let text = "ab requests=1000 lengths=90 body=76 other:html_transferred=69160";
    let audit = found(vec![row(text)]);
    let finding = audit.findings.iter().find(|f| f.rule == "ab_length_failures").expect("90 lengths differ");
    assert!(finding.sentence.contains("answers of zero bytes"), "69,160 / 76 = 910 = 1,000 - 90");
    let audit = found(vec![row(&text.replace("69160", "72000"))]);
    let finding = audit.findings.iter().find(|f| f.rule == "ab_length_failures").expect("90 lengths differ");
    assert!(!finding.sentence.contains("zero bytes"));
}

#[test]
fn connections_that_failed_carry_no_requests() {
    // 120 of 300 in flight is nothing; of the 100 that came about it is too many.
    let text = "wrk rate=600.00 mean=200.00ms users=300 refused=200";
    assert!(has(vec![row(&text.replace("mean=200", "mean=300"))], "made_up_samples"));
    assert!(!has(vec![row(&text.replace("refused=200", "refused=0"))], "made_up_samples"));
    assert!(!has(vec![row(&text.replace("mean=200", "mean=150"))], "users_idle"), "90 of 100 are busy");
}

#[test]
fn parts_and_totals_add_up() {
    let rows = |total: u32| {
        let all = ["a", "b"].map(|name| row(&format!("jmeter label={name} requests=500 errors=0 rate=50")));
        all.into_iter()
            .chain([row(&format!("jmeter label=Total requests={total} errors=0 rate=100"))])
            .collect::<Vec<_>>()
    };
    assert!(has(rows(1200), "total_impossible"), "more than the sum");
    // Rows that are left out have a rate as well, and nothing tells without one.
    for rate in [Some("120"), None] {
        let mut cut = rows(1200);
        match rate {
            Some(rate) => cut[2] = row(&format!("jmeter label=Total requests=1200 errors=0 rate={rate}")),
            None => cut.iter_mut().for_each(|row| drop(row.figures.remove(&Measure::Rate))),
        }
        assert!(!has(cut, "total_impossible"));
    }
    assert!(has(rows(400), "total_impossible"), "less than a part");
    assert!(has(rows(900), "parts_exceed_total"));
    assert!(!has(rows(1000), "total_impossible") && !has(rows(1000), "parts_exceed_total"));
    // The total may stand above its parts, as in a table that is sorted.
    let above: Vec<Row> = rows(1200).into_iter().rev().collect();
    assert!(has(above, "total_impossible"));
    // A second total is no part of the first.
    let twice: Vec<Row> =
        rows(1000).into_iter().chain([row("jmeter label=total requests=1000 errors=0")]).collect();
    assert!(!has(twice.clone(), "parts_exceed_total"));
    let tabled = twice.into_iter().map(|row| Row { table: Some(0), ..row }).collect();
    assert!(!has(tabled, "parts_exceed_total"));
    // Runs one after the other are no parts of each other.
    assert!(!has(
        vec![row("jmeter label=a requests=5"), row("jmeter label=total requests=50")],
        "total_impossible"
    ));
}

/// Two parts and what is said of both together.
fn totalled(a: &str, b: &str, total: &str) -> Vec<Row> {
    let label = |name: &str, text: &str| row(&format!("table label={name} {text}"));
    vec![label("a", a), label("b", b), label("Total", total)]
}

#[test]
fn a_total_rate_is_no_more_than_its_parts_together() {
    assert!(has(totalled("rate=570", "rate=380", "rate=1200"), "total_impossible"));
    assert!(!has(totalled("rate=570", "rate=380", "rate=950"), "total_impossible"));
    assert!(!has(totalled("rate=570", "rate=380", "rate=950"), "parts_exceed_total"));
    // Parts that ran one after the other have a total between their rates: a question, and no contradiction.
    let after = || totalled("rate=570", "rate=380", "rate=460");
    assert!(has(after(), "parts_exceed_total") && !has(after(), "total_impossible"));
    // JMeter takes the rate of a label over the time of the label.
    let jmeter = |row: Row| Row { tool: Some(plimsoll_audit::foreign::Tool::Jmeter), ..row };
    assert!(!has(after().into_iter().map(jmeter).collect(), "parts_exceed_total"));
    // A column `rate` is known by the unit in its cells.
    let text = "| part | rate |\n|--|--|\n| Total | 1200/s |\n| a | 570/s |\n| b | 380/s |\n";
    let tabled = plimsoll_audit::foreign::read("report.md", text);
    assert!(audit(&[tabled]).findings.iter().any(|f| f.rule == "total_impossible"));
    // A run named `all` may be one of its own.
    let all = |row: Row| if row.label == "Total" { Row { label: "all".into(), ..row } } else { row };
    let own = totalled("rate=570", "rate=380", "rate=1200").into_iter().map(all).collect();
    assert!(!has(own, "total_impossible"));
}

#[test]
fn a_total_lies_within_its_parts() {
    let (a, b) = ("mean=20ms min=2ms max=90ms share=2%", "mean=30ms min=3ms max=95ms share=4%");
    let sound = "mean=25ms min=2ms max=95ms share=3%";
    let wrongs =
        ["mean=60ms", "mean=12ms", "min=0ms", "min=9ms", "max=200ms", "max=91ms", "share=9%", "share=0.5%"];
    let counted = |text: &str, n: u32| format!("requests={n} {text}");
    for wrong in wrongs {
        let total = crate::row::fixture::fixed(sound, wrong);
        let parts_add_up = totalled(&counted(a, 1000), &counted(b, 1000), &counted(&total, 2000));
        assert!(has(parts_add_up, "total_impossible"), "{wrong}");
        // Without counts a part may be missing in the table.
        assert!(has(totalled(a, b, &total), "total_outside_parts"), "{wrong}");
        assert!(!has(totalled(a, b, &total), "total_impossible"), "{wrong}");
        // Transaction controllers among the parts: their times are none of the total's.
        let nested = totalled(&counted(a, 1000), &counted(b, 1000), &counted(&total, 1500));
        assert!(!has(nested, "total_impossible"), "{wrong}");
    }
    // Connect and wait are phases of one request: their sum is longer than each of them.
    let phases = totalled("mean=1ms max=4ms", "mean=9ms max=1020ms", "mean=10ms max=1400ms");
    assert!(!has(phases, "total_outside_parts"));
    for rule in ["total_impossible", "total_outside_parts"] {
        assert!(!has(totalled(a, b, sound), rule));
        assert!(!has(totalled(&counted(a, 1000), &counted(b, 1000), &counted(sound, 2000)), rule));
    }
}

#[test]
fn percentiles_that_have_no_measure_stand_in_the_order_too() {
    let text = "oha p99=30.0ms other:p99.999=50.0ms other:p99.9999=20.0ms max=90.0ms";
    let audit = found(vec![row(text)]);
    let finding = audit.findings.iter().find(|f| f.rule == "percentiles_out_of_order").expect("50 > 20");
    assert_eq!(finding.arithmetic, ["p99.999 50 ms > p99.9999 20 ms"]);
    assert!(!has(vec![row(&text.replace("=20.0ms", "=60.0ms"))], "percentiles_out_of_order"));
    assert!(has(vec![row("oha other:p99.999=95.0ms max=90.0ms")], "percentiles_out_of_order"));
}

#[test]
fn a_negative_figure_is_shown_with_its_sign() {
    let mut lost = row("table mean=-20");
    if let Some(figure) = lost.figures.values_mut().next() {
        "20".clone_into(&mut figure.written);
    }
    for row in [row("table mean=-20"), lost] {
        let audit = found(vec![row]);
        let finding = audit.findings.iter().find(|f| f.rule == "negative_figure").expect("-20 < 0");
        assert_eq!(finding.arithmetic, ["the mean = -20 < 0"]);
    }
}

#[test]
fn what_k6_does_side_by_side_is_a_doubt() {
    let text =
        "k6 requests=3610 rate=876.41 mean=13.26ms users=10 iterations=722 other:iteration_duration=56.03ms";
    assert!(has(vec![row(text)], "requests_exceed_iterations"));
    assert_eq!(found(vec![row(text)]).worst(), Some(Grade::Implausible));
}

fn with_samples(text: &str) -> Row {
    let elapsed_s: Vec<f64> = (1..=1000).map(|i| f64::from(i) / 1000.0).collect();
    let samples = Samples {
        count: 1000,
        elapsed_sum_s: elapsed_s.iter().sum(),
        times: elapsed_s.into_iter().collect(),
        last_s: 20.0,
        concurrent_max: 9,
        runs: 1,
        ..Samples::default()
    };
    Row { samples: Some(samples), ..row(text) }
}

#[test]
fn stated_figures_are_held_against_the_samples() {
    let rule = "figures_are_not_of_the_samples";
    let sound = "jmeter requests=1000 errors=0 mean=500ms min=1ms p50=500ms p99=990ms max=1000ms users=10";
    assert!(!has(vec![with_samples(sound)], rule));
    for wrong in
        ["p99=870ms", "p50=600ms", "p50=400ms", "mean=300ms", "requests=900", "errors=3", "max=800ms"]
    {
        let text = crate::row::fixture::fixed(sound, wrong);
        assert!(has(vec![with_samples(&text)], rule), "{wrong}");
    }
    assert!(!has(vec![with_samples(sound)], "more_at_once_than_users"));
    assert!(has(vec![with_samples(&sound.replace("users=10", "users=8"))], "more_at_once_than_users"));
    let mut appended = with_samples(sound);
    assert!(!has(vec![appended.clone()], "runs_appended"));
    if let Some(samples) = appended.samples.as_mut() {
        samples.runs = 3;
    }
    assert!(has(vec![appended], "runs_appended"));
}

#[test]
fn a_tick_behind_http_req_failed_is_explained_where_it_misleads() {
    let word = "word:http_req_failed=the_tick_counts_failed_requests";
    let read = |text: &str| {
        let mut row = row(text);
        if let Some(figure) = row.others.remove("http req failed no") {
            row.others.insert("http_req_failed no".into(), figure);
        }
        has(vec![row], "failed_reads_inverted")
    };
    assert!(read(&format!("k6 requests=900 errors=0 other:http_req_failed_no=900 {word}")));
    assert!(read(&format!("k6 requests=70 errors=2 other:http_req_failed_no=68 {word}")));
    assert!(
        !read("k6 requests=900 errors=0 other:http_req_failed_no=900"),
        "the new layout says it in words"
    );
    assert!(!read(&format!("k6 requests=900 errors=899 other:http_req_failed_no=1 {word}")));
}

#[test]
fn machines_are_missing_only_where_a_report_could_have_named_them() {
    let says = |text: &str| {
        let claims = vec![Claim { text: text.into(), line: 2, ..Claim::default() }];
        let report = Document { claims, ..document(vec![row("table rate=90")]) };
        audit(&[report]).findings.iter().any(|f| f.rule == "no_hardware")
    };
    assert!(says("the service is written in 3 languages on multi-core hardware"));
    assert!(!says("it ran on 4 vCPU"));
    assert!(!says("both are c5.large"));
    assert!(!says("8 GB RAM"));
    assert!(!says("机器：4 核 8G"));
    assert!(!says("сервер: 8 ядер"));
    assert!(!has(vec![row("hey rate=90")], "no_hardware"), "a bare output is no report");
}

#[test]
fn rows_of_one_name_are_told_apart_by_their_headings() {
    let below = |heading: &str, text: &str| {
        let mut row = row(text);
        row.headings = vec!["Results".into(), heading.into()];
        row
    };
    let sentences = |rows: Vec<Row>| {
        let findings = found(rows).findings.into_iter().filter(|f| f.rule == "mean_outside_extremes");
        findings.map(|f| f.sentence).collect::<Vec<_>>().join("; ")
    };
    let (bad, good) = ("hey label=/ mean=52.0ms max=48.0ms", "hey label=/ mean=5.0ms max=48.0ms");
    let text = sentences(vec![below("before", bad), below("after", bad)]);
    assert!(text.contains("/ (before)") && text.contains("/ (after)"), "{text}");
    let text = sentences(vec![below("before", good), below("after", bad)]);
    assert!(text.starts_with("/ (after): "), "{text}");
    // One heading for all, or one row of the name, tells nothing apart.
    assert!(sentences(vec![below("before", bad), below("before", good)]).starts_with("/: "));
    assert!(sentences(vec![below("before", bad)]).starts_with("/: "));
}
