//! The failures of each request by class add up to those of the run.

use plimsoll_analysis::summarise;
use plimsoll_plan::Fault;
use plimsoll_record::run_file;
use plimsoll_testkit::scene::Made;
use plimsoll_testkit::trouble;
use std::collections::BTreeMap;

#[test]
fn failures_of_requests_by_class_add_up_to_those_of_the_run() {
    let folder = std::env::temp_dir().join(format!("plimsoll-by-class-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the directory for temporary files is writable");
    let path = folder.join("a.plim");
    trouble::all_errors(7).write(&path).expect("a run is written");
    let s = summarise(&run_file::read(&path).expect("it is read"));
    std::fs::remove_dir_all(&folder).expect("the test created it");
    let mut sums: BTreeMap<Fault, u64> = BTreeMap::new();
    for row in &s.requests {
        assert_eq!(row.errors_by_class.values().sum::<u64>(), row.errors, "{}", row.name);
        row.errors_by_class.iter().for_each(|(class, n)| *sums.entry(*class).or_default() += n);
    }
    let wanted: BTreeMap<Fault, u64> = s.errors.iter().map(|row| (row.class, row.count)).collect();
    assert!(wanted.len() > 1, "several classes: {wanted:?}");
    assert_eq!(sums, wanted);
}

#[test]
fn failure_examples_keep_the_names_of_an_older_file() {
    let folder = std::env::temp_dir().join(format!("plimsoll-by-class-old-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the directory for temporary files is writable");
    let (new, old) = (folder.join("new.plim"), folder.join("old.plim"));
    trouble::all_errors(7).write(&new).expect("a run is written");
    let mut record = run_file::read(&new).expect("it is read");
    let samples = record.generators.values_mut().flat_map(|generator| generator.failure_examples.iter_mut());
    for sample in samples.filter(|sample| sample.check == Fault::ConnectionRefused.name()) {
        sample.check = "connect_refused".into();
    }
    run_file::write(&old, &record).expect("a run is written");
    let s = summarise(&run_file::read(&old).expect("a name is text, so none is unknown"));
    std::fs::remove_dir_all(&folder).expect("the test created it");
    assert!(s.failure_examples.iter().any(|row| row.sample.check == "connect_refused"));
    assert!(
        s.errors.iter().any(|row| row.class == Fault::ConnectionRefused),
        "counted failures have the new name"
    );
}
