//! Pages stay small and are built quickly for any run: an hour, 200 requests, a single response, only errors.
//! The runs are written by the real writer, in simulated time.

use plimsoll_analysis::picture::spans_of;
use plimsoll_analysis::summarise_with_picture;
use plimsoll_output::figure;
use plimsoll_output::html::run_page;
use plimsoll_record::{Error, run_file};
use plimsoll_testkit::scene::Made;
use plimsoll_testkit::{odd_runs, shop, trouble};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum size of a page in bytes.
const MOST: usize = 600_000;
const SEED: u64 = 7;

/// Returns the size of the page of a run, the time to read and analyze the run, and the time to build the page.
fn page(name: &str, write: impl FnOnce(&Path) -> Result<(), Error>) -> (usize, Duration, Duration) {
    let folder = std::env::temp_dir().join(format!("plimsoll-page-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the directory for temporary files is writable");
    let path = folder.join("a.plim");
    write(&path).expect("a run is written");
    let began = Instant::now();
    let record = run_file::read(&path).expect("it is read");
    let spans = spans_of(&path, &record).expect("it is read again");
    let (summary, picture) = summarise_with_picture(&record, &spans);
    let read = began.elapsed();
    let charts = figure::of_run(&summary, &picture);
    let page =
        run_page(&summary, &picture, Some("a.plim"), charts).expect("a summary can be written as JSON");
    let text = page.render().expect("a page is rendered");
    let made = began.elapsed() - read;
    std::fs::remove_dir_all(&folder).expect("the test created it");
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
fn the_page_of_an_hour_is_small_and_built_faster_than_the_run_is_read() {
    let (length, read, made) = page("hour", |out| shop::hour(SEED).write(out));
    assert!(length < MOST, "{length} bytes");
    // Other work on the machine slows down the reading as well.
    assert!(made < read * 2, "made in {made:?}, read in {read:?}");
}
