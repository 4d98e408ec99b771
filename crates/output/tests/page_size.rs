//! Pages stay small and are made quickly, whatever the run: an hour, 200 requests, a single answer, nothing but errors.
//! The runs come through the writer of real ones, in simulated time.

use plimsoll_analysis::picture::spans_of;
use plimsoll_analysis::summarise_with_picture;
use plimsoll_output::figure;
use plimsoll_output::html::run_page;
use plimsoll_record::{Error, run_file};
use plimsoll_testkit::scene::Made;
use plimsoll_testkit::{odd_runs, shop, trouble};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of a page.
const MOST: usize = 600_000;
const SEED: u64 = 7;

/// Length of the page of a run, how long it took to read and add up, and how long to make the page of it.
fn page(name: &str, write: impl FnOnce(&Path) -> Result<(), Error>) -> (usize, Duration, Duration) {
    let folder = std::env::temp_dir().join(format!("plimsoll-page-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    let path = folder.join("a.plim");
    write(&path).expect("a run is written");
    let began = Instant::now();
    let record = run_file::read(&path).expect("it is read");
    let spans = spans_of(&path, &record).expect("it is read again");
    let (summary, picture) = summarise_with_picture(&record, &spans);
    let read = began.elapsed();
    let charts = figure::of_run(&summary, &picture);
    let page = run_page(&summary, &picture, Some("a.plim"), charts).expect("a summary is JSON");
    let text = page.render().expect("a page is made");
    let made = began.elapsed() - read;
    std::fs::remove_dir_all(&folder).expect("it is ours");
    (text.len(), read, made)
}

#[test]
fn pages_of_ordinary_and_odd_runs_are_small_files() {
    let all = [
        ("many_requests", page("many", |out| odd_runs::many_requests(SEED).write(out))),
        ("single_request", page("single", |out| odd_runs::single_request(SEED).write(out))),
        ("all_errors", page("errors", |out| trouble::all_errors(SEED).write(out))),
        ("empty", page("empty", |out| trouble::empty(SEED).write(out))),
    ];
    for (name, (length, ..)) in all {
        assert!(length < MOST, "{name}: {length} bytes");
    }
}

#[test]
fn an_hour_makes_a_small_page_in_less_time_than_it_takes_to_read() {
    let (length, read, made) = page("hour", |out| shop::hour(SEED).write(out));
    assert!(length < MOST, "{length} bytes");
    // The machine that tests run on may be busy: with what, the reading is as well.
    assert!(made < read * 2, "made in {made:?}, read in {read:?}");
}
