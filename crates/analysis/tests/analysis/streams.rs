//! Streams of events: their account, their fairness, and that their lifetimes are not response times.

use crate::analysis::fixture::*;
use crate::analysis::scripted::named;
use plimsoll_analysis::summary::Outcome;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum};
use plimsoll_plan::outline::RequestOutline;

/// Ten seconds: ten streams opened in the first, with ten events per second each, all open at the end; plus 100
/// requests per second. `events` are those of each stream.
fn feed(events: [u64; 10]) -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    let stream = RequestOutline { is_stream: true, ..named(&run.outline, "feed", None) };
    run.outline.requests = vec![stream, named(&run.outline, "login", None)];
    run.fill(|tick| {
        answers(tick, 1, 100, 5 * MS);
        let feed = &mut tick.series[0];
        feed.add(StreamSum::Events.id(), 100);
        feed.add(StreamSum::EventsExpected.id(), 101);
        feed.add(StreamSum::EventsLost.id(), 1);
        feed.hists[StreamHist::EventGap.id()].record_n(100 * MS, 100);
    });
    run.at(0, |tick| {
        tick.series[0].add(SeriesSum::Sent.id(), 10);
        tick.series[0].add(StreamSum::Streams.id(), 10);
        tick.series[0].hists[StreamHist::StreamHead.id()].record_n(2 * MS, 10);
        tick.series[0].hists[StreamHist::FirstEvent.id()].record_n(50 * MS, 10);
    })
    .at(9, |tick| {
        tick.series[0].add(StreamSum::OpenAtEnd.id(), 10);
        events.iter().for_each(|n| tick.series[0].record(StreamHist::StreamEvents.id(), *n));
        tick.series[0].hists[StreamHist::StreamLife.id()].record_n(10 * S, 10);
    })
}

#[test]
fn a_stream_has_its_own_account() {
    let summary = feed([100; 10]).summary();
    assert_eq!(summary.streams.len(), 1);
    let row = &summary.streams[0];
    assert_eq!(
        (row.streams, row.open_at_end, row.events, row.events_expected, row.events_lost),
        (10, 10, 1_000, 1_010, 10)
    );
    assert_eq!(row.events_per_s, 100.0);
    assert!(close(row.event_loss_ratio.unwrap(), 10.0 / 1_010.0, 1e-9));
    assert_eq!((row.gap.count, row.head.count, row.duration.count), (1_000, 10, 10));
    assert!(close(row.gap.p50_ns.unwrap() as f64, 100e6, 0.01));
    let seconds = &summary.timeline;
    assert!(seconds.iter().all(|second| second.events == Some(100)));
    assert!(seconds.iter().all(|second| second.streams_open == Some(10)), "{seconds:#?}");
    let plain = Run::closed(15).summary();
    assert!(plain.streams.is_empty() && plain.timeline[0].events.is_none());
}

#[test]
fn jains_index_distinguishes_equal_and_unequal_shares() {
    let fairness = |events| feed(events).summary().streams[0].fairness.unwrap();
    let equal = fairness([100; 10]);
    assert!(close(equal.index, 1.0, 1e-9), "{}", equal.index);
    // One of ten receives everything: 1/10.
    let greedy = fairness([1_000, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(close(greedy.index, 0.1, 0.01), "{}", greedy.index);
    assert_eq!((greedy.events_min, greedy.events_p50, greedy.events_max, greedy.streams), (0, 0, 1_000, 10));
    // Half of them receive three times as much: (5 + 15)^2 / (10 (5 + 45)) = 0.8.
    let skewed = fairness([30, 30, 30, 30, 30, 10, 10, 10, 10, 10]);
    assert!(close(skewed.index, 0.8, 0.01), "{}", skewed.index);
}

#[test]
fn the_lifetime_of_a_stream_is_not_a_response_time() {
    let ended = feed([100; 10]).at(9, |tick| {
        let feed = &mut tick.series[0];
        feed.add(SeriesSum::Finished.id(), 10);
        for id in [SeriesHist::Response, SeriesHist::Service, SeriesHist::FirstByte, SeriesHist::Body] {
            feed.hists[id.id()].record_n(10 * S, 10);
        }
    });
    let summary = ended.clone().summary();
    assert_eq!((summary.totals.requests, summary.response_time.count), (1_010, 1_000));
    assert!(summary.response_time.max_ns < Some(10 * MS));
    assert!(summary.timeline[9].max_ns < Some(10 * MS));
    assert_eq!(summary.phases.download.count, 1_000);
    let row = summary.requests.iter().find(|row| row.name == "feed").unwrap();
    assert!(row.is_stream && row.response_time.max_ns >= Some(10 * S));
    let met = |text: &str| ended.clone().thresholds(&[text]).summary().thresholds[0].is_met;
    assert!(met("response_time max < 1s"));
    assert!(met("response_time{scenario: buyer} max < 1s"), "next to requests, streams are left out");
    assert!(met("response_time{request: feed} min > 1s"), "a threshold on streams alone includes them");
}

#[test]
fn stream_metrics_are_judged() {
    let texts = [
        "stream_head p50 < 3ms",
        "first_event{request: feed} max < 60ms",
        "event_gap p99 < 110ms",
        "events == 1000",
        "event_loss < 1%",
        "error_rate == 0%",
    ];
    let summary = feed([100; 10]).thresholds(&texts).summary();
    let missed: Vec<_> = summary.thresholds.iter().filter(|t| !t.is_met).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(!feed([100; 10]).thresholds(&["event_loss < 0.5%"]).summary().thresholds[0].is_met);
    assert!(!feed([100; 10]).thresholds(&["event_age p99 < 1s"]).summary().thresholds[0].is_met, "no sample");
}

#[test]
fn a_run_of_streams_only_has_results() {
    let mut run = feed([100; 10]).thresholds(&["error_rate == 0%", "events > 100"]);
    run.ticks.iter_mut().for_each(|tick| tick.series[1].clear());
    let summary = run.summary();
    assert_eq!(summary.totals.requests, 0);
    assert!(caution(&summary, "no_requests").is_none() && caution(&summary, "too_few_samples").is_none());
    assert_eq!(summary.verdict.result, Outcome::Pass, "{}", summary.verdict.sentence);
    // If no stream was opened, nothing was measured.
    run.ticks.iter_mut().for_each(|tick| tick.series[0].clear());
    assert!(caution(&run.summary(), "no_requests").is_some());
}

#[test]
fn open_streams_are_neither_a_stall_nor_a_contradiction() {
    let run = feed([100; 10]).all_ticks(|tick| tick.run.add(RunSum::InFlightNs.id(), 10 * S));
    let run = run.at(6, |tick| tick.series[1].clear());
    let summary = run.summary();
    assert_eq!(summary.spikes.len(), 0);
    assert!(caution(&summary, "littles_law").is_none(), "{:#?}", summary.cautions);
}
