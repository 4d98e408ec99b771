//! The report at the end of a run.

use crate::output::fixtures;
use plimsoll_analysis::caution::{Evidence, Kind, Place};
use plimsoll_analysis::summary::{Severity, Standing, Summary};
use plimsoll_output::line::width;
use plimsoll_output::{Look, health, terminal, terminal::Detail};

fn look(width: u16) -> Look {
    Look { color: false, width, unicode: true }
}

fn report(s: &Summary, look: Look) -> String {
    terminal::summary(s, &look, Detail::Full, Some("runs/a.plim"))
}

/// Text without escape sequences.
fn stripped(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split('\x1b');
    out.push_str(parts.next().unwrap());
    for part in parts {
        out.push_str(part.split_once('m').expect("only colors").1);
    }
    out
}

#[test]
fn no_line_is_wider_than_the_window() {
    for (name, s) in fixtures::all() {
        for columns in [60, 72, 80, 100, 120] {
            for unicode in [true, false] {
                let text = report(&s, Look { color: false, width: columns, unicode });
                for line in text.lines() {
                    assert!(width(line) <= usize::from(columns), "{name} at {columns}: {line}");
                }
            }
        }
    }
}

#[test]
fn color_only_adds_color() {
    for (name, s) in fixtures::all() {
        let plain = report(&s, look(100));
        assert!(!plain.contains('\x1b'), "{name}");
        let colored = report(&s, Look { color: true, ..look(100) });
        assert!(colored.contains('\x1b'), "{name}");
        let trimmed: Vec<String> = stripped(&colored).lines().map(|l| l.trim_end().to_owned()).collect();
        let expected: Vec<String> = plain.lines().map(|l| l.trim_end().to_owned()).collect();
        assert_eq!(trimmed, expected, "{name}");
    }
}

#[test]
fn without_unicode_everything_is_ascii_even_names() {
    let mut s = fixtures::fail();
    s.name = "Größe 日本 ✓".into();
    s.requests[0].name = "日本語".into();
    let text = report(&s, Look { color: false, width: 80, unicode: false });
    assert!(text.is_ascii());
    assert!(text.contains("Gr??e ???? ?"), "wide letters keep their two columns");
}

#[test]
fn the_verdict_is_first_and_last() {
    for (_, s) in fixtures::all() {
        let text = report(&s, look(100));
        let word = format!("{:?}", s.verdict.result).to_uppercase();
        assert!(text.lines().next().unwrap().contains(&word));
        assert_eq!(
            text.lines().last().unwrap(),
            format!("{word}  show again: plimsoll report runs/a.plim --full")
        );
    }
}

#[test]
fn a_run_of_one_url_fits_one_screen() {
    let screen =
        |s: &Summary, columns| terminal::summary(s, &look(columns), Detail::Screen, Some("runs/a.plim"));
    let mut paced = fixtures::fail();
    paced.requests.truncate(1);
    paced.thresholds.retain(|t| t.subject.starts_with("response_time"));
    paced.errors.clear();
    paced.totals.errors = 0;
    paced.timeline.iter_mut().for_each(|t| t.errors = 0);
    for (name, s) in
        [("pass", fixtures::pass()), ("paced", paced), ("inconclusive", fixtures::inconclusive())]
    {
        let text = screen(&s, 100);
        assert!(text.lines().count() <= 40, "{name} has {} lines:\n{text}", text.lines().count());
    }
    for (name, s) in fixtures::all() {
        let text = screen(&s, 80);
        // The last line is meant for copying.
        let report: Vec<&str> = text.lines().collect();
        for line in &report[..report.len() - 1] {
            assert!(width(line) <= 80, "{name}: {line}");
        }
        assert!(report[report.len() - 1].ends_with("plimsoll report runs/a.plim --full"), "{name}");
    }
}

#[test]
fn a_detail_is_in_the_default_view_if_a_missed_threshold_refers_to_it() {
    let screen = |s: &Summary| terminal::summary(s, &look(100), Detail::Screen, None);
    let mut s = fixtures::shop();
    assert!(!screen(&s).contains("\nGroups") && !screen(&s).contains("Latency breakdown"));
    let t = &mut s.thresholds[1];
    (t.subject, t.is_met, t.standing) = ("group_time{group: checkout} p99".into(), false, Standing::Missed);
    assert!(screen(&s).contains("\nGroups"), "{}", screen(&s));
    s.thresholds[1].subject = "time_to_first_byte p99".into();
    assert!(!screen(&s).contains("\nGroups") && screen(&s).contains("Latency breakdown"));
}

#[test]
fn the_command_at_the_end_survives_a_copy() {
    let long = format!("runs/{}'s run.plim", "x".repeat(150));
    let text = terminal::summary(&fixtures::pass(), &look(80), Detail::Full, Some(&long));
    let quoted = long.replace('\'', r"'\''");
    assert!(
        text.ends_with(&format!("plimsoll report '{quoted}' --full\n")),
        "neither truncated nor interpreted by the shell"
    );
}

#[test]
fn a_percentile_with_too_few_samples_is_not_printed_as_a_fact() {
    let text = report(&fixtures::inconclusive(), look(100));
    let line = text.lines().find(|l| l.trim_start().starts_with("p99.9")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["p99.9", "-", "-", "(4,311", "samples,", "needs", "10,000)"]);
}

#[test]
fn censored_percentiles_and_the_maximum_are_lower_bounds() {
    let text = report(&fixtures::fail(), look(100));
    for label in ["p99.9", "max"] {
        let line = text.lines().find(|l| l.trim_start().starts_with(&format!("{label} "))).unwrap();
        assert!(line.contains("≥ 10.0 s"), "{line}");
    }
}

#[test]
fn each_caution_marks_its_line_of_the_health_section_or_has_a_reason_for_none() {
    for kind in Kind::ALL {
        let mut s = fixtures::pass();
        s.cautions.clear();
        // Without it, there is no line for certificates.
        s.tls = fixtures::shop().tls;
        assert!(health::rows(&s).iter().all(|row| row.severity.is_none()));
        let mut caution = kind.example().raise();
        caution.severity = Severity::Inconclusive;
        s.cautions.push(caution);
        let marked: Vec<String> =
            health::rows(&s).into_iter().filter(|row| row.severity.is_some()).map(|row| row.label).collect();
        match kind.place() {
            Place::Elsewhere(why) => {
                assert!(marked.is_empty() && !why.is_empty(), "{} marked {marked:?}", kind.code());
            }
            Place::Line(_) => {
                assert!(!marked.is_empty(), "{} marked nothing", kind.code());
                let text = report(&s, look(100));
                assert!(text.contains(&format!("  ✗  {}", marked[0])), "{}", kind.code());
            }
        }
    }
}

#[test]
fn ephemeral_ports_that_run_low_are_not_ok() {
    let mut s = fixtures::pass();
    let line = |s: &Summary| {
        let row = health::rows(s).into_iter().find(|row| row.label == "Limits").unwrap();
        (row.severity, row.titles.first().cloned())
    };
    assert_eq!(line(&s).0, None);
    s.cautions.push(Kind::LowEphemeralPorts.example().raise());
    assert_eq!(line(&s), (Some(Severity::Warning), Some(Kind::LowEphemeralPorts.title().to_owned())));
}

#[test]
fn the_most_severe_caution_decides_the_sign() {
    let mut s = fixtures::inconclusive();
    let mut note = s.cautions[0].clone();
    (note.kind, note.severity) = (Kind::ClientFdLimit, Severity::Note);
    s.cautions.insert(0, note);
    let rows = health::rows(&s);
    let row = rows.iter().find(|row| row.label == "Limits").unwrap();
    assert_eq!(row.severity, Some(Severity::Inconclusive));
}

#[test]
fn long_facts_of_the_health_section_are_wrapped_and_not_truncated() {
    let mut s = fixtures::merged();
    s.gaps[0].reason = "the disk was full and what could not be written was kept until the end ".repeat(3);
    let text = report(&s, look(80));
    let inside: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(inside.join(" ").contains(s.gaps[0].reason.trim()), "{text}");
}

#[test]
fn of_many_workers_the_mean_and_the_busiest_are_shown() {
    let mut s = fixtures::pass();
    let mut worker = s.client.workers[0].clone();
    s.client.workers = (0..32)
        .map(|n| {
            worker.worker = n;
            worker.busy_ratio = f64::from(n) / 100.0;
            worker.clone()
        })
        .collect();
    let text = report(&s, look(100));
    assert!(text.contains("Workers (32)") && text.contains("worker 31 · busy 31%"));
    assert!(!text.contains("worker 17"));
}

#[test]
fn foreign_names_cannot_move_the_cursor_or_reverse_the_text() {
    let mut s = fixtures::fail();
    s.name = "a\x1b[2Jb\u{202e}c\r\nd".into();
    s.requests[0].name = "\x1b]0;title\x07".into();
    s.cautions[0].evidence = Evidence::LocalTarget { address: "\x1b[31mred".into() };
    let text = report(&s, look(100));
    assert!(!text.contains(['\x1b', '\r', '\x07', '\u{202e}']));
}

#[test]
fn a_run_without_completed_requests_prints_no_wrong_value() {
    let text = report(&fixtures::nothing(), look(100));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert!(text.contains("0 requests"));
}

#[test]
fn arrivals_of_several_requests_are_compared_with_iterations() {
    let facts = |s: &Summary| health::rows(s).remove(0).facts;
    let mut s = fixtures::fail();
    s.plan.requests.push(s.plan.requests[0].clone());
    s.achieved.iterations_per_s = 996.0;
    s.achieved.rate_per_s = 1_992.0;
    let note = facts(&s);
    assert_eq!(note[..2], ["offered 1,000 arrivals/s", "achieved 996 iterations/s (99.9%)"]);
    s.plan.requests.truncate(1);
    assert_eq!(facts(&s)[..2], ["offered 1,000 req/s", "achieved 1,992 req/s (99.9%)"]);
}

#[test]
fn unknown_values_are_not_shown() {
    let mut s = fixtures::pass();
    (s.environments[0].port_low, s.environments[0].port_high) = (0, 0);
    let rows = health::rows(&s);
    let row = rows.iter().find(|row| row.label == "Limits").unwrap();
    assert!(row.facts.contains(&"ephemeral port range unknown".to_owned()));
}

#[test]
fn load_generators_of_one_machine_share_its_cpus() {
    let mut s = fixtures::merged();
    let cpus = |s: &Summary| {
        let row = health::rows(s).into_iter().find(|row| row.label == "Host").unwrap();
        row.facts[0].split(',').next().unwrap().to_owned()
    };
    assert_eq!(cpus(&s), "4 CPUs of 2 machines");
    // Two containers have different names of hosts.
    s.environments.iter_mut().for_each(|one| one.boot_id = "7f".into());
    assert_eq!(cpus(&s), "2 CPUs");
    s.environments.iter_mut().for_each(|one| (one.boot_id, one.host) = (String::new(), "lab".into()));
    assert_eq!(cpus(&s), "2 CPUs");
}

#[test]
fn late_ticks_mark_the_record() {
    let mut s = fixtures::pass();
    let record = |s: &Summary| health::rows(s).into_iter().find(|row| row.label == "Record").unwrap();
    assert_eq!(record(&s).severity, None);
    s.client.intervals_late = 2;
    assert_eq!(record(&s).severity, Some(Severity::Warning));
    assert!(record(&s).facts.contains(&"2 intervals recorded more than 100 ms late".to_owned()));
}

#[test]
fn timed_out_requests_are_not_in_a_bucket() {
    let line = |s: &Summary| {
        let text = report(s, look(60));
        let from = text.find("Buckets").unwrap();
        text[from..].lines().take(6).find(|l| l.contains("timed out")).map(str::to_owned)
    };
    assert!(line(&fixtures::fail()).unwrap().contains("60"));
    assert_eq!(line(&fixtures::pass()), None);
}

/// One formatter for sentences and tables: the values of the verdict are in the tables, digit for digit.
#[test]
fn the_verdict_and_the_tables_format_a_value_equally() {
    use plimsoll_analysis as analysis;
    use plimsoll_output::format;
    use plimsoll_plan::phrase;
    use plimsoll_record::RunRecord;
    for ns in [1, 999, 2_000_000, 10_000_000_000, 59_960_000_000, 125_000_000_000] {
        assert_eq!(format::duration_ns(ns), phrase::duration_ns(ns));
    }
    for ratio in [0.0, 0.0213, 0.9, 0.9896, 0.99997] {
        assert_eq!(format::ratio(ratio), phrase::ratio(ratio));
    }
    let nothing = analysis::summarise(&RunRecord::default());
    assert!(report(&nothing, look(100)).contains("the record is empty"));
}

/// A run with this many requests; `r0` is the fastest.
fn many(n: u64) -> Summary {
    let mut s = fixtures::pass();
    let row = s.requests[0].clone();
    s.requests = (0..n)
        .map(|i| {
            let mut one = row.clone();
            (one.name, one.errors) = (format!("r{i}"), 0);
            for p in &mut one.response_time.percentiles {
                (p.value_ns, p.is_lower_bound, p.has_enough_samples) = ((i + 1) * 1_000_000, false, true);
            }
            one
        })
        .collect();
    s
}

/// The names in the table of requests, and the lines after it.
fn requests_of(s: &Summary, columns: u16) -> (Vec<String>, String) {
    let text = report(s, look(columns));
    let table = text.lines().skip_while(|line| !line.starts_with("Requests")).skip(2);
    let table: Vec<&str> = table.take_while(|line| !line.is_empty()).collect();
    let is_row = |line: &&&str| line.trim_start().starts_with('r');
    let names = table.iter().filter(is_row).filter_map(|line| line.split_whitespace().next());
    let rest: Vec<&str> = table.iter().filter(|line| !is_row(line)).map(|line| line.trim()).collect();
    (names.map(str::to_owned).collect(), rest.join(" "))
}

#[test]
fn a_table_that_fits_keeps_the_order_of_the_plan() {
    let mut s = many(12);
    s.requests[7].errors = 3;
    let (names, rest) = requests_of(&s, 100);
    assert_eq!(names, (0..12).map(|i| format!("r{i}")).collect::<Vec<_>>());
    assert_eq!(rest, "");
}

#[test]
fn a_truncated_table_shows_failures_then_the_slowest_and_reports_it() {
    let mut s = many(20);
    (s.requests[2].errors, s.requests[5].errors) = (1, 40);
    let (names, rest) = requests_of(&s, 100);
    let slowest = (10..20).rev().map(|i| format!("r{i}"));
    let expected: Vec<String> = ["r5".to_owned(), "r2".to_owned()].into_iter().chain(slowest).collect();
    assert_eq!(names, expected);
    let note = "and 8 more in the JSON document; rows with the most errors, then the highest";
    assert_eq!(rest, format!("{note} p99, come first"));
    assert_eq!(requests_of(&s, 60), (expected, format!("{note} p99, come first")), "wrapped, not cut");
    // One request is too rare for a p99, so no p99 decides.
    for p in &mut s.requests[0].response_time.percentiles {
        p.has_enough_samples = p.q < 0.6;
        p.value_ns = 1_000_000_000;
    }
    let (names, rest) = requests_of(&s, 100);
    assert_eq!(names[..4], ["r5", "r2", "r0", "r19"]);
    assert_eq!(rest, format!("{note} p50, come first"));
}

#[test]
fn a_run_without_response_times_has_no_curve() {
    let mut s = fixtures::pass();
    for row in &mut s.timeline {
        (row.p50_ns, row.p90_ns, row.p95_ns, row.p99_ns, row.max_ns) = (None, None, None, None, None);
        (row.samples, row.few_samples) = (0, Vec::new());
    }
    let text = report(&s, look(100));
    let rows = |text: &str| {
        let (_, course) = text.split_once("Timeline").unwrap();
        course.lines().skip(1).take(3).map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert!(rows(&text).iter().all(|row| !row.ends_with("0 ns")), "{text}");
    assert!(rows(&report(&fixtures::pass(), look(100))).iter().any(|row| row.starts_with("p99")));
}
