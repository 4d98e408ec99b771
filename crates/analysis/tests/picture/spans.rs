//! The timelines of single requests, which only a file has.

use plimsoll_analysis::picture::{SpansOf, Spark, spans_of};
use plimsoll_analysis::{picture, summarise, summarise_with_picture};
use plimsoll_plan::metric::SeriesHist;
use plimsoll_record::RunRecord;
use plimsoll_record::event::{RunEvent, Sink};
use plimsoll_record::run_file::{RunFile, read, read_spans, write};
use plimsoll_testkit::made_up::{Folder, Random, ending, interval, opening, tick};
use std::path::Path;

/// Three requests, of which the second runs alongside the load and the third was never sent.
fn file(path: &Path, seconds: u32) -> RunRecord {
    let mut opening = opening("spans", 4);
    opening.outline.requests[1].is_outside_load = true;
    let mut writer = RunFile::create(path, &opening).unwrap();
    writer.event(&RunEvent::Opened(opening.into()));
    let mut random = Random::new(3);
    for number in 0..seconds {
        let mut one = interval(number, 4, 5 + random.below(20), &mut random);
        one.series[2].clear();
        writer.event(&tick(one));
    }
    writer.event(&ending(u64::from(seconds)));
    assert!(writer.finish().trouble.is_none());
    read(path).unwrap()
}

fn sparks(path: &Path, record: &RunRecord) -> Vec<Spark> {
    picture(record, &summarise(record), &spans_of(path, record).unwrap()).sparks
}

#[test]
fn the_spans_of_a_request_add_up_to_its_total() {
    let folder = Folder::new("picture-spans");
    for seconds in [7, 60, 1_000] {
        let path = folder.file(&format!("{seconds}.plim"));
        let record = file(&path, seconds);
        let summary = summarise(&record);
        let sparks = sparks(&path, &record);
        let names: Vec<&str> = sparks.iter().map(|one| summary.requests[one.request].name.as_str()).collect();
        assert_eq!(names, ["request 0", "request 3"]);
        for (spark, series) in sparks.iter().zip([0, 3]) {
            assert!(spark.from_s.len() <= 61 && spark.from_s.len() == spark.rate_per_s.len());
            let ends = spark.from_s.iter().skip(1).copied().chain([spark.to_s]);
            let lengths: Vec<f64> =
                spark.from_s.iter().zip(ends).map(|(from_s, to_s)| to_s - from_s).collect();
            let counted: f64 =
                spark.rate_per_s.iter().zip(&lengths).map(|(rate, length)| rate * length).sum();
            let spans = read_spans(&path, "spans", Some(series)).unwrap();
            let count = |at: usize| spans.iter().map(|span| span.cells.sums[at]).sum::<u64>();
            let finished = count(plimsoll_plan::metric::SeriesSum::Finished.id());
            assert!((counted - finished as f64).abs() < 1e-6 * finished as f64, "{counted} {finished}");
            assert_eq!(
                spark.errors.iter().sum::<u64>(),
                count(plimsoll_plan::metric::SeriesSum::Failed.id())
            );
            // The warm-up is not a whole number of seconds, so the first tick is half a second.
            assert_eq!(spark.to_s, f64::from(seconds) - 0.5);
            // The first span, added up differently.
            let to_s = spark.from_s.get(1).copied().unwrap_or(spark.to_s);
            let mut first = plimsoll_stats::Hist::on_demand();
            let outline = &record.generators["spans"].opening.outline;
            for span in
                spans.iter().filter(|span| (outline.tick_bounds_ns(span.first_tick).0 as f64) < to_s * 1e9)
            {
                first.merge(&span.cells.hists[SeriesHist::Response.id()]);
            }
            assert_eq!(spark.p99_ns[0], first.quantile(0.99));
        }
    }
}

#[test]
fn a_merged_file_has_no_timelines_and_no_error() {
    let folder = Folder::new("picture-merged");
    let record = file(&folder.file("one.plim"), 30);
    let merged = folder.file("merged.plim");
    write(&merged, &record).unwrap();
    assert_eq!(sparks(&merged, &record), Vec::new());
    assert_eq!(summarise_with_picture(&record, &SpansOf::default()).1.sparks, Vec::new());
    assert!(spans_of(&folder.file("none.plim"), &record).is_err());
}
