//! Content that a page omits so that the page of a long run stays small, and the notes about it.

use crate::html::frame::data;
use crate::html::{dom, dom_of};
use crate::output::fixtures;
use plimsoll_analysis::picture::{Picture, Spark};
use plimsoll_analysis::summary::{ErrorRow, Standing, Summary};
use plimsoll_chart::{Axis, Chart, Form, Panel, Series, Unit};
use plimsoll_output::{json, markdown};
use plimsoll_plan::Fault;
use serde_json::Value;

fn document(s: &Summary) -> Value {
    serde_json::from_str(&json::to_string(s).unwrap()).unwrap()
}

/// A run of this many seconds.
fn lasting(seconds: usize) -> Summary {
    let mut s = fixtures::pass();
    let all: Vec<_> = s.timeline.iter().cycle().take(seconds).cloned().collect();
    s.timeline = all;
    s
}

#[test]
fn the_page_of_a_long_run_omits_its_seconds_and_reports_it() {
    let (long, short) = (lasting(901), lasting(900));
    let mut wanted = document(&long);
    wanted.as_object_mut().unwrap().remove("timeline").expect("the document has its seconds");
    assert_eq!(data(&long, &Picture::default())["document"], wanted);
    let describe = |s: &Summary| {
        let method = dom(s).by_id("method").expect("every page has it").text();
        method.contains("omits timeline, the 901 seconds of the run")
    };
    assert!(describe(&long));
    assert_eq!(data(&short, &Picture::default())["document"], document(&short));
    assert!(!describe(&short));
}

#[test]
fn chart_values_have_six_digits_and_whole_numbers_all_digits() {
    let values = [333.333_333_333, 12_345_678_901.0, 0.000_123_456_78, 1.234_999_6, f64::NAN, -0.5, 2e300];
    let mut chart = Chart::new("a", "a", Axis::new("part", Unit::Quantile));
    chart.xs = vec![0.0, 0.5, 0.9, 0.999_999_99, 1.0, 2.0, 3.0];
    let y = values.iter().copied().map(Some).collect();
    let series = Series::new("y", "y", 0, Form::Line, y);
    chart.panels.push(Panel::new("p", Axis::new("y", Unit::Plain), vec![series]));
    let text = serde_json::to_string(&chart).unwrap();
    // The fourth value is 1.23. With six digits, 1.23500, it would be shown as 1.24.
    assert!(text.contains(r#""y":[333.333,12345678901,0.000123457,1.2349996,null,-0.5,2e+300]"#), "{text}");
    assert!(text.contains(r#""xs":[0,0.5,0.9,0.99999999,1,2,3]"#), "{text}");
}

#[test]
fn of_many_requests_the_most_frequent_have_a_drawn_timeline() {
    let mut s = fixtures::shop();
    s.groups.clear();
    let like = s.requests[0].clone();
    s.requests = (0..60)
        .map(|at| {
            let mut row = like.clone();
            (row.name, row.requests) = (format!("r{at}"), 100 + at);
            row
        })
        .collect();
    let spark = |request| Spark {
        request,
        from_s: vec![0.0, 1.0],
        to_s: 2.0,
        rate_per_s: vec![1.0, 2.0],
        p99_ns: vec![Some(1), Some(2)],
        errors: vec![0, 0],
    };
    let picture = Picture { sparks: (0..60).map(spark).collect(), ..Picture::default() };
    let dom = dom_of(&s, &picture);
    let rows = dom.by_id("table-requests").expect("there are requests").below("tr");
    let drawn: Vec<bool> = rows.iter().skip(1).map(|row| row.below("svg").len() == 2).collect();
    // The first ten are the least frequent.
    assert_eq!(drawn, [vec![false; 10], vec![true; 50]].concat());
    assert!(dom.by_id("requests").unwrap().text().contains("the 50 most frequent requests"));
    // A column without a line is omitted.
    let once = |request| Spark { p99_ns: vec![Some(1), None], ..spark(request) };
    let picture = Picture { sparks: (0..60).map(once).collect(), ..Picture::default() };
    let heads: Vec<String> = dom_of(&s, &picture).by_id("table-requests").expect("as above").below("thead")
        [0]
    .below("th")
    .iter()
    .map(|head| head.text())
    .collect();
    assert!(
        heads.contains(&"rate over time".into()) && !heads.contains(&"p99 over time".into()),
        "{heads:?}"
    );
}

fn error(fault: Fault, count: u64) -> ErrorRow {
    ErrorRow { class: fault, side: fault.side(), count, sentence: fault.sentence() }
}

#[test]
fn failures_of_a_request_are_listed_by_class() {
    let mut s = fixtures::shop();
    let all = [(Fault::Timeout, 7), (Fault::Status, 1_200)];
    s.requests.iter_mut().for_each(|row| row.errors_by_class.clear());
    s.requests[1].errors = 1_207;
    s.requests[1].errors_by_class = all.into_iter().collect();
    s.errors = vec![error(Fault::Status, 1_200), error(Fault::Timeout, 7)];
    let dom = dom(&s);
    let texts = |id: &str| -> Vec<String> {
        dom.by_id(id).expect("it is there").below("tr").iter().map(|row| row.text()).collect()
    };
    let name = &s.requests[1].name;
    let row = texts("table-requests").into_iter().find(|row| row.contains("1,207")).expect("its row");
    let (first, second) = (row.find("http_status 1,200"), row.find("timeout 7"));
    assert!(row.contains(name) && first.is_some() && first < second, "{row}");
    let failing = texts("table-failing");
    assert_eq!(failing.len(), 2, "{failing:?}");
    assert!(failing[0].ends_with("http_statustimeout"), "{failing:?}");
    assert!(failing[1].ends_with("1,2007") && failing[1].starts_with(name), "{failing:?}");
}

#[test]
fn equal_failure_examples_are_one_with_their_number() {
    let mut s = fixtures::shop();
    let one = s.failure_examples.swap_remove(0);
    let at = |at_s: u64, excerpt: &str| {
        let mut row = one.clone();
        (row.sample.at_ns, row.sample.excerpt) = (at_s * 1_000_000_000, excerpt.into());
        row
    };
    s.failure_examples = vec![at(3, "busy"), at(4, "busy"), at(5, "gone"), at(9, "busy")];
    let dom = dom(&s);
    let list = dom.elements().into_iter().find(|one| one.has_class("samples")).expect("there are examples");
    let texts: Vec<String> = list.below("li").iter().map(|li| li.text()).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("at 3 s") && texts[0].contains("3 similar, the last at 9 s"), "{texts:?}");
    assert!(texts[1].contains("gone") && !texts[1].contains("alike"), "{texts:?}");
    let marked = markdown::to_string(&s);
    assert!(
        marked.contains("| 3 s; 3 similar, the last at 9 s |") && !marked.contains(" more in the"),
        "{marked}"
    );
    s.failure_examples = (0..12).map(|n| at(n, &format!("busy {n}"))).collect();
    let marked = markdown::to_string(&s);
    assert!(marked.contains("`busy 9` |\n\nand 2 more in the JSON document\n"), "{marked}");
}

#[test]
fn a_missed_threshold_colors_only_its_own_tile() {
    let tiles = |what: &str, standing: Standing, class: &str| -> Vec<String> {
        let mut s = fixtures::pass();
        s.thresholds[0].subject = what.into();
        (s.thresholds[0].is_met, s.thresholds[0].standing) = (false, standing);
        let page = dom(&s);
        let all = page.elements();
        let tiles = all.iter().filter(|one| one.has_class("tile") && one.has_class(class));
        tiles.map(|one| one.text()).collect()
    };
    let red = |what: &str| tiles(what, Standing::Missed, "fail");
    let one = red("response_time p99");
    assert!(one.len() == 1 && one[0].contains("p99"), "{one:?}");
    // A missed threshold without a tile gets its own, with its limit.
    let own = red("response_time{request: pay} p99.9");
    assert!(own.len() == 1 && own[0].starts_with("pay: response time p99.9"), "{own:?}");
    assert!(own[0].ends_with("limit 250 ms"), "{own:?}");
    // An undecided threshold is not a missed one.
    assert_eq!(tiles("response_time p99", Standing::Undecided, "fail"), Vec::<String>::new());
    let open = tiles("response_time p99", Standing::Undecided, "doubt");
    assert!(open.len() == 1 && open[0].contains("p99"), "{open:?}");
}

#[test]
fn a_passed_run_reports_when_its_failures_occurred() {
    let mut s = fixtures::pass();
    s.errors = vec![error(Fault::Status, 700)];
    s.totals.errors = 700;
    s.status_codes = [("503".to_owned(), 700)].into_iter().collect();
    let first = |s: &Summary| {
        let page = dom(s);
        let all = page.elements();
        all.iter().filter(|e| e.has_class("reasons")).map(|e| e.text()).collect::<String>()
    };
    let mut with = |seconds: &[u32]| {
        s.timeline
            .iter_mut()
            .for_each(|t| t.errors = if seconds.contains(&t.tick) { 700 / seconds.len() as u64 } else { 0 });
        first(&s)
    };
    let together = with(&[12]);
    let told = "requests failed: status 503 (http_status); all between 12 s and 13 s.";
    assert!(together.contains(told) && together.contains("threshold"), "{together}");
    let apart = with(&[7, 12]);
    assert!(apart.contains("status 503 (http_status).") && !apart.contains("between"), "{apart}");
}

#[test]
fn failures_are_on_the_first_screen_and_in_the_findings_for_any_verdict() {
    let mut s = fixtures::pass();
    s.errors = vec![error(Fault::Status, s.totals.requests)];
    s.totals.errors = s.totals.requests;
    s.status_codes = [("503".to_owned(), s.totals.requests)].into_iter().collect();
    let dom = dom(&s);
    let all = dom.elements();
    let why = all.iter().find(|one| one.has_class("reasons")).expect("every page has it").text();
    assert!(why.contains("http_status") && why.contains("status 503"), "{why}");
    let findings = dom.by_id("findings").expect("something was found").text();
    assert!(findings.contains("of status 503") && findings.contains("server's log"), "{findings}");
}
