//! What can be read from a run file can be reported.

use plimsoll_analysis::summarise;
use plimsoll_record::event::Opening;
use plimsoll_record::run_file::{read, write};
use plimsoll_testkit::made_up::{Folder, Random, events, gathered, opening};

#[test]
fn of_a_plan_that_is_all_beside_the_load_nothing_counts() {
    let folder = Folder::new("aside");
    let mut record = gathered(&events(&opening("a", 2), 12, 50));
    let origin = record.generators.get_mut("a").unwrap();
    let mut aside = Opening::clone(&origin.opening);
    aside.outline.requests.iter_mut().for_each(|request| request.is_outside_load = true);
    origin.opening = aside.into();
    let path = folder.file("aside.plim");
    write(&path, &record).unwrap();
    assert_eq!(summarise(&read(&path).unwrap()).totals.requests, 0);
}

#[test]
fn damaged_bytes_are_refused_or_read_but_never_a_crash() {
    let folder = Folder::new("damaged");
    let whole = folder.file("whole.plim");
    let run = events(&opening("a", 2), 13, 30);
    write(&whole, &gathered(&run)).unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let mut random = Random::new(3);
    let mut refused = 0;
    for round in 0..300 {
        let mut bytes = bytes.clone();
        if round % 3 == 0 {
            bytes.truncate(random.below(bytes.len() as u64) as usize);
        } else {
            for _ in 0..=random.below(20) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
        }
        let path = folder.file("damaged.plim");
        std::fs::write(&path, &bytes).unwrap();
        match read(&path) {
            // What can be read can be reported, too.
            Ok(record) => drop(summarise(&record)),
            Err(_) => refused += 1,
        }
    }
    println!("refused {refused} of 300");
    assert!(refused > 100);
}
