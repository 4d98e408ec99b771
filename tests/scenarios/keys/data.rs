//! Data files: which row each request carries.

use super::{Case, case};
use crate::bench::{Seen, Trial, steps, trial};
use std::collections::BTreeMap;

/// Every request carries a row's `id`.
fn rows(feeder: &str, load: &str) -> Trial {
    let top = format!("data: {{ d: {feeder} }}\nload: {load}\n");
    trial(format!("{top}{}", steps("- get: \"/x?id=${d.id}&u=${user}\"")))
}

/// Ten rows, `id` from 0.
fn ten() -> String {
    let rows: String = (0..10).map(|n| format!("{n},name {n}\n")).collect();
    format!("id,name\n{rows}")
}

/// Returns how often each row was used.
fn ids(s: &Seen) -> BTreeMap<u64, u64> {
    let mut all = BTreeMap::new();
    for asked in &s.asked {
        *all.entry(asked.query("id").unwrap().parse().unwrap()).or_default() += 1;
    }
    all
}

pub const CASES: &[Case] = &[
    case(
        &["experiment.data", "feeder.file"],
        || rows("{ file: d.csv }", "{ users: 1, iterations: 10 }").file("d.csv", ten()),
        |s| {
            let sent: Vec<_> = s.asked.iter().map(|asked| asked.query("id").unwrap().to_owned()).collect();
            assert_eq!(sent, (0..10).map(|n| n.to_string()).collect::<Vec<_>>(), "in the order of the file");
            s.expect_run(0);
        },
    ),
    case(
        &["feeder.format"],
        || {
            let lines = "{\"id\": 1, \"o\": {\"p\": [5]}}\n{\"id\": \"two\"}\n";
            rows("{ file: d.txt, format: jsonl }", "{ users: 1, iterations: 2 }").file("d.txt", lines)
        },
        |s| {
            let sent: Vec<_> = s.asked.iter().map(|asked| asked.query("id").unwrap()).collect();
            assert_eq!(sent, ["1", "two"]);
            s.expect_run(0);
        },
    ),
    case(
        &["feeder.delimiter", "feeder.columns"],
        || {
            let feeder = "{ file: d.csv, delimiter: \";\", columns: [name, id] }";
            rows(feeder, "{ users: 1, iterations: 2 }").file("d.csv", "\"a;\"\"b\";7\nc;8\n")
        },
        |s| {
            let sent: Vec<_> = s.asked.iter().map(|asked| asked.query("id").unwrap()).collect();
            assert_eq!(sent, ["7", "8"], "the first line is a row");
            s.expect_run(0);
        },
    ),
    case(
        &["feeder.sharing"],
        || {
            rows("{ file: d.csv, sharing: unique, on_end: stop }", "{ users: 3, duration: 20s }")
                .file("d.csv", ten())
        },
        |s| {
            assert_eq!(ids(s), (0..10).map(|n| (n, 1)).collect(), "no row twice, and none left out");
            assert!(s.elapsed.as_secs() < 15, "the end of the data ends the users: {:?}", s.elapsed);
        },
    ),
    case(
        &[],
        || {
            rows(
                "{ file: d.csv, sharing: partitioned, on_end: recycle }",
                "{ users: 2, iterations_per_user: 10 }",
            )
            .file("d.csv", ten())
        },
        |s| {
            let mut of_user: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            for asked in &s.asked {
                of_user
                    .entry(asked.query("u").unwrap())
                    .or_default()
                    .push(asked.query("id").unwrap().parse().unwrap());
            }
            let parts: Vec<std::collections::BTreeSet<u64>> =
                of_user.values().map(|all| all.iter().copied().collect()).collect();
            assert_eq!((parts.len(), parts[0].len(), parts[1].len()), (2, 5, 5), "{of_user:?}");
            assert!(parts[0].is_disjoint(&parts[1]), "{of_user:?}");
            assert_eq!(ids(s).values().copied().collect::<Vec<_>>(), [2; 10]);
            s.expect_run(0);
        },
    ),
    case(
        &["feeder.order"],
        || {
            rows(
                "{ file: d.csv, order: random, sharing: unique, on_end: stop }",
                "{ users: 1, duration: 20s }",
            )
            .file("d.csv", ten())
            .args(&["--seed", "9"])
        },
        |s| {
            assert_eq!(ids(s), (0..10).map(|n| (n, 1)).collect(), "a shuffle leaves nothing out");
            let sent: Vec<_> = s.asked.iter().map(|asked| asked.query("id").unwrap().to_owned()).collect();
            assert_ne!(sent, (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
        },
    ),
    case(
        &["feeder.on_end"],
        || rows("{ file: d.csv, on_end: stop }", "{ users: 2, duration: 20s }").file("d.csv", ten()),
        |s| {
            // Every user reads all rows by itself.
            assert_eq!(ids(s).values().copied().collect::<Vec<_>>(), [2; 10], "{:?}", s.lines());
            assert_eq!(s.value_at("/totals/users_out_of_data"), 2);
            assert!(s.elapsed.as_secs() < 15, "{:?}", s.elapsed);
        },
    ),
    case(
        &[],
        || rows("{ file: d.csv, on_end: recycle }", "{ users: 1, iterations: 25 }").file("d.csv", ten()),
        |s| {
            let all = ids(s);
            assert_eq!((all[&0], all[&4], all[&5], all[&9]), (3, 3, 2, 2), "{all:?}");
            s.expect_run(0);
        },
    ),
];
