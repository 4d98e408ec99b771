//! The runs that the example `make_run` writes: complete, as described, and consistent with their pictures.

use crate::picture::check::wrong;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{EventKind, Outcome, Summary};
use plimsoll_analysis::{picture::spans_of, summarise_with_picture};
use plimsoll_record::RunRecord;
use plimsoll_record::run_file::read;
use plimsoll_testkit::made_up::Folder;
use plimsoll_testkit::scene::{Made, Scene};
use plimsoll_testkit::{odd_runs, shop, trouble};

fn made(scene: Scene) -> (RunRecord, Summary, Picture) {
    let folder = Folder::new(&format!("picture-{}", scene.opening.origin));
    let path = folder.file("run.plim");
    scene.write(&path).expect("the disk has space");
    let record = read(&path).unwrap();
    let (summary, picture) = summarise_with_picture(&record, &spans_of(&path, &record).unwrap());
    assert_eq!(wrong(&record, &picture), Vec::<String>::new());
    (record, summary, picture)
}

#[test]
fn a_run_repeats_with_its_seed() {
    let [a, again, other] = [5, 5, 6].map(|seed| made(shop::half(seed, 1)).0);
    assert!(a == again && a != other);
}

#[test]
fn the_shop_run_is_as_described() {
    let (_, summary, picture) = made(shop::half(7, 2));
    assert!(summary.is_complete && summary.totals.errors > 100 && !summary.monitors.is_empty());
    assert_eq!((summary.requests.len(), summary.groups.len(), picture.sparks.len()), (5, 3, 5));
    assert_eq!(picture.spectra.len(), 6);
    for kind in [EventKind::Stage, EventKind::Note, EventKind::Spike] {
        assert!(summary.events.iter().any(|event| event.kind == kind), "{kind:?}");
    }
    assert!(!summary.cautions.iter().any(|caution| caution.kind.code() == "littles_law"));
}

#[test]
fn odd_runs_have_pictures() {
    let (_, summary, picture) = made(odd_runs::many_requests(7));
    assert_eq!((summary.requests.len(), picture.spectra.len()), (199, 51));
    let (_, summary, picture) = made(odd_runs::single_request(7));
    assert_eq!((summary.totals.requests, picture.rows.len(), picture.spectra[0].response.len()), (1, 1, 2));
    let (_, summary, picture) = made(odd_runs::streams(7));
    assert!(summary.streams[0].streams >= 400 && picture.rows.iter().all(|row| row.events.is_some()));
    assert!(!picture.spectra.iter().any(|one| one.request == "feed"), "a lifetime is not a response time");
    let (_, summary, picture) = made(odd_runs::hostile(7));
    assert_eq!((summary.name.as_str(), picture.moments.len()), ("</script><script>alert(1)</script>", 30));
}

#[test]
fn troubled_runs_have_pictures() {
    let (_, summary, picture) = made(trouble::all_errors(7));
    assert_eq!(summary.totals.error_ratio, 1.0);
    assert!(picture.classes.len() >= 7 && picture.rows.iter().all(|row| row.good_rate_per_s == 0.0));
    let (_, summary, picture) = made(trouble::empty(7));
    assert_eq!((summary.totals.requests, summary.verdict.result), (0, Outcome::Inconclusive));
    assert_eq!(
        picture.response_heat.counts.iter().flatten().sum::<u64>(),
        10,
        "censored, and shown in their place"
    );
    let (_, summary, picture) = made(trouble::gap(7));
    assert!(!summary.is_complete && picture.rows.len() == 105);
    let (record, summary, _) = made(trouble::cut_off(7));
    assert!(summary.stopped_by.is_none() && record.generators["short"].ending.is_none());
}
