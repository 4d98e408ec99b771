//! The texts of the tools, from one generated run.

use super::golden::check;
use plimsoll_lines::{ab, hey, loadtest, oha, wrk};
use plimsoll_plan::metric::SeriesHist;
use plimsoll_testkit::made_up::{events, gathered, opening};
use plimsoll_toolend::{Figures, vegeta};

fn figures() -> Figures {
    Figures::new(&gathered(&events(&opening("a", 3), 12, 200)))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn texts_are_as_committed() {
    let figures = figures();
    let line = wrk::parse(&words("-t2 -c10 -d12s --latency --timeout 20s http://h:8080/a")).unwrap();
    check("wrk.txt", &plimsoll_toolend::wrk::text(&figures, &line));
    let line = ab::parse(&words("-n 2400 -c 10 -k http://h:8080/a")).unwrap();
    check("ab.txt", &plimsoll_toolend::ab::text(&figures, &line, ""));
    check("ab.csv", &plimsoll_toolend::ab::csv(&figures));
    let line = ab::parse(&words("-w -n 2400 -c 10 http://h:8080/a")).unwrap();
    check("ab.html", &plimsoll_toolend::ab::text(&figures, &line, ""));
    let line = hey::parse(&words("-z 12s -c 10 http://h:8080/a")).unwrap();
    check("hey.txt", &plimsoll_toolend::hey::text(&figures, &line));
    let line = oha::parse(&words("-z 12s -c 10 http://h:8080/a")).unwrap();
    check("oha.txt", &plimsoll_toolend::oha::text(&figures, &line));
    check("oha.json", &plimsoll_toolend::oha::json(&figures, &line));
    check("vegeta.txt", &vegeta::text(&figures));
    check("vegeta.json", &vegeta::json(&figures, &[0, 10_000_000, 100_000_000]));
    check("vegeta-histogram.txt", &vegeta::histogram(&figures, &[0, 10_000_000, 100_000_000]));
    check("vegeta-hdr.txt", &vegeta::hdr_plot(&figures));
    let line = loadtest::parse(&words("-t 12 -c 10 -k http://h:8080/a")).unwrap();
    check("loadtest.txt", &plimsoll_toolend::loadtest::text(&figures, &line, 10, 2));
}

#[test]
fn each_response_has_a_row_in_the_file_for_gnuplot() {
    let figures = figures();
    let text = plimsoll_toolend::ab::gnuplot(&figures);
    let rows: Vec<Vec<u64>> = text
        .lines()
        .skip(1)
        .map(|row| row.split('\t').skip(2).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len() as u64, figures.responses());
    assert!(rows.is_sorted_by_key(|row| row[2]));
    assert!(rows.iter().all(|row| row[0].abs_diff(row[2] - row[1]) <= 1 && row[3] <= row[2] + 1));
}

#[test]
fn the_correction_of_wrk_only_adds_values_below_long_ones() {
    let figures = figures();
    let service = figures.hist(SeriesHist::Service);
    let corrected = plimsoll_toolend::wrk::latency_us(&figures, 10, 20_000_000_000);
    // Two requests of each connection per second: nothing takes twice as long.
    assert_eq!(corrected.count(), service.count());
    let busy = plimsoll_toolend::wrk::latency_us(&figures, 1, 20_000_000_000);
    assert!(busy.count() > service.count());
    assert_eq!(busy.max(), corrected.max());
    let cut = plimsoll_toolend::wrk::latency_us(&figures, 10, service.quantile(0.5).unwrap());
    assert!(cut.count() < service.count());
}
