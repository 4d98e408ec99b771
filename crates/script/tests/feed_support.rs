//! Shared by the tests of feeders and values: temporary files, feeders, users, and seeded random numbers.

// Each test program uses some of these.
#![allow(dead_code, clippy::expect_used)]

use plimsoll_plan::data::{AtEnd, Feeder, Format, RowOrder, Sharing};
use plimsoll_plan::load::Share;
use plimsoll_plan::program::UserSlot;
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::Unfilled;
use plimsoll_stats::random::SplitMix64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// A file that is removed with this value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(bytes: impl AsRef<[u8]>) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("plimsoll-feed-{}-{number}", process::id()));
        fs::write(&path, bytes).expect("the directory for temporary files is writable");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

pub fn csv(file: &Scratch, columns: &[&str]) -> Feeder {
    Feeder {
        name: "users".into(),
        path: file.0.clone(),
        format: Format::Csv { delimiter: b',', header: None },
        columns: columns.iter().map(|name| name.to_string()).collect(),
        share: Sharing::All,
        order: RowOrder::Sequential,
        at_end: AtEnd::Recycle,
        made_by_setup: false,
    }
}

pub fn json(file: &Scratch, columns: &[&str]) -> Feeder {
    Feeder { format: Format::JsonLines, ..csv(file, columns) }
}

/// A file with the one column `n`: 0, 1, ... `count` - 1.
pub fn numbered(count: usize) -> Scratch {
    let lines: String = (0..count).map(|n| format!("{n}\n")).collect();
    Scratch::new(format!("n\n{lines}"))
}

pub fn machine(part: u32, of: u32) -> Share {
    Share { part, of }
}

pub fn slot(user: u32, users: u32) -> UserSlot {
    UserSlot { workload: 0, user, id: user, users }
}

pub fn open(feeder: &Feeder) -> Arc<Feeds> {
    Arc::new(Feeds::open(std::slice::from_ref(feeder), 1, machine(1, 1)).expect("the file is valid"))
}

pub fn refusal(feeder: &Feeder) -> String {
    let why = Feeds::open(std::slice::from_ref(feeder), 1, machine(1, 1)).expect_err("the file is invalid");
    why.to_string()
}

/// Returns column 0 of each of `count` iterations; stops after the last row.
pub fn take(rows: &mut Rows, count: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..count {
        rows.new_iteration();
        let mut value = Vec::new();
        match rows.value(0, 0, &mut value) {
            Ok(()) => {
                let text = String::from_utf8(value).expect("digits are ASCII");
                taken.push(text.parse().expect("each value is a number"));
            }
            Err(reason) => {
                assert_eq!(reason, Unfilled::Exhausted(0));
                return taken;
            }
        }
    }
    taken
}

/// 0 to `bound` - 1.
pub fn below(random: &mut SplitMix64, bound: usize) -> usize {
    (random.next_u64() >> 11) as usize % bound.max(1)
}

/// Runs `case` once for each of `usual` seeds, or for as many as `PLIMSOLL_FUZZ_CASES` says. A failing case prints its
/// seed, and `PLIMSOLL_FUZZ_SEED` repeats only that case.
pub fn cases(usual: u64, case: impl Fn(&mut SplitMix64) + std::panic::RefUnwindSafe) {
    let number = |name: &str| {
        let text = env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is `{text}`, not a whole number")))
    };
    let seeds = match number("PLIMSOLL_FUZZ_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("PLIMSOLL_FUZZ_CASES").unwrap_or(usual),
    };
    for seed in seeds {
        // The reason was printed when the case failed; only the seed is missing.
        let held = std::panic::catch_unwind(|| case(&mut SplitMix64::new(seed))).is_ok();
        assert!(held, "PLIMSOLL_FUZZ_SEED={seed} repeats this case alone");
    }
}
