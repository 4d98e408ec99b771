//! Adding up the runs of several machines is an algebra: order, grouping and repetition make no difference.

use plimsoll_record::event::RunEvent;
use plimsoll_record::run_file::{read, write};
use plimsoll_record::{Error, RunRecord};
use plimsoll_testkit::made_up;
use plimsoll_testkit::made_up::{Random, ending, gathered, interval, note, opening, tick};
use std::sync::Arc;

fn merge(a: &RunRecord, b: &RunRecord) -> RunRecord {
    RunRecord::merge(a.clone(), b.clone()).unwrap()
}

/// The run of one origin, the same one each time it is asked for; some are cut off, some miss seconds.
fn run_of(origin: u64) -> RunRecord {
    let mut random = Random::new(origin + 1);
    let opening = opening(&format!("origin-{origin}"), 1 + random.below(3) as usize);
    let mut events = vec![RunEvent::Opened(Arc::new(opening.clone()))];
    for number in 0..random.below(12) as u32 {
        if random.below(5) > 0 {
            events.push(tick(interval(number, opening.outline.requests.len(), 5, &mut random)));
        }
    }
    if random.below(2) == 0 {
        events.push(note(3, "paused"));
    }
    if random.below(3) > 0 {
        events.push(ending(12));
    }
    gathered(&events)
}

/// A record of any origins out of six, so that two of them often overlap.
fn random_record(random: &mut Random) -> RunRecord {
    (0..random.below(4)).fold(RunRecord::default(), |record, _| merge(&record, &run_of(random.below(6))))
}

#[test]
fn neither_order_nor_grouping_nor_repetition_matters() {
    let mut random = Random::new(11);
    for _ in 0..200 {
        let [a, b, c] = [(); 3].map(|()| random_record(&mut random));
        assert_eq!(merge(&a, &b), merge(&b, &a));
        assert_eq!(merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
        assert_eq!(merge(&a, &a), a);
        assert_eq!(merge(&merge(&a, &b), &a), merge(&a, &b));
        assert_eq!(merge(&a, &RunRecord::default()), a);
        assert_eq!(merge(&RunRecord::default(), &a), a);
    }
}

#[test]
fn each_machine_keeps_its_own_rows() {
    let merged = merge(&run_of(1), &run_of(2));
    assert_eq!(merged.generators.len(), 2);
    for k in [1, 2] {
        let name = format!("origin-{k}");
        assert_eq!(merged.generators[&name], run_of(k).generators[&name]);
    }
}

#[test]
fn one_origin_with_two_contents_is_refused() {
    let whole = run_of(1);
    let change = |what: &str, by: &dyn Fn(&mut plimsoll_record::record::GeneratorRecord)| {
        let mut changed = whole.clone();
        changed.generators.values_mut().for_each(by);
        for (a, b) in [(&whole, &changed), (&changed, &whole)] {
            let error = RunRecord::merge(a.clone(), b.clone()).unwrap_err();
            assert!(matches!(error, Error::Conflict { .. }));
            assert_eq!(
                error.to_string(),
                format!(
                    "run `origin-1` of host `host-origin-1` is given twice with different {what}; merging would \
                     count it twice"
                )
            );
            assert!(error.hint().unwrap().contains("omit the shorter one"));
        }
    };
    change("ticks", &|origin| {
        origin.ticks.pop_last();
    });
    change("endings", &|origin| {
        origin.ending = match origin.ending.take() {
            Some(_) => None,
            None => Some(plimsoll_record::event::Ending {
                stopped_by: plimsoll_record::event::StoppedBy::Requests,
                elapsed_ns: 1,
                lost_workers: vec![],
            }),
        };
    });
    change("totals", &|origin| origin.totals.series[0].add(0, 1));
    change("openings", &|origin| Arc::make_mut(&mut origin.opening).started_unix_ns += 1);
}

#[test]
fn merging_files_is_merging_records() {
    let folder = made_up::Folder::new("merge-files");
    let parts = [1, 2, 3].map(|k| {
        let path = folder.file(&format!("{k}.plim"));
        write(&path, &run_of(k)).unwrap();
        read(&path).unwrap()
    });
    let merged = merge(&merge(&parts[0], &parts[1]), &parts[2]);
    let path = folder.file("merged.plim");
    write(&path, &merged).unwrap();
    let again = read(&path).unwrap();
    assert_eq!(again, merged);
    assert_eq!(merge(&again, &parts[1]), merged, "a part of it given once more counts once");
}
