//! Plans of other projects, from a folder that the variable `PLIMSOLL_JMX_PLANS` names: how many can be read, and why
//! the others cannot.

use plimsoll_jmx::{Given, draft, read};
use plimsoll_plan::diag::Place;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn plans(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            plans(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "jmx") {
            all.push(path);
        }
    }
}

#[test]
#[ignore = "needs a folder of plans in PLIMSOLL_JMX_PLANS, as `cargo xtask nightly` may"]
fn plans_of_other_projects_are_read_or_refused_with_a_place() {
    let folder = std::env::var("PLIMSOLL_JMX_PLANS").unwrap();
    let set = std::env::var("PLIMSOLL_JMX_SET").unwrap_or_default();
    let set = set.split_whitespace().filter_map(|pair| pair.split_once('='));
    let set: Vec<_> = set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut all = Vec::new();
    plans(Path::new(&folder), &mut all);
    all.sort();
    let (mut codes, mut read_count) = (BTreeMap::<String, usize>::new(), 0);
    for path in &all {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // Values for tokens that this plan has.
        let set = set.iter().filter(|(name, _)| text.contains(name.as_str())).cloned().collect();
        let given = Given { set, ..Given::default() };
        let result =
            read(path, &given).and_then(|reading| draft(&reading.plan, &reading.files).map(|_| reading));
        match result {
            Ok(reading) => {
                read_count += 1;
                for note in &reading.notes {
                    *codes.entry(format!("note {}", note.code)).or_default() += 1;
                }
                println!("ok      {}: {} notes", path.display(), reading.notes.len());
            }
            Err(wrong) => {
                for one in &wrong {
                    let place = match &one.place {
                        Place::Text { line, column, .. } => format!("{line}:{column}"),
                        other => format!("{other:?}"),
                    };
                    println!("refused {}:{place}: {} {}", path.display(), one.code, one.message);
                    *codes.entry(one.code.to_owned()).or_default() += 1;
                }
            }
        }
    }
    println!("{read_count} of {} plans, {codes:?}", all.len());
    assert!(!all.is_empty());
}
