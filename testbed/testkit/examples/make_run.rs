//! `make_run KIND OUT.plim [SEED]` writes a generated run, with the writer of real runs and in simulated time: an hour
//! takes seconds. It is for tests of reports. The same kind and seed produce the same run.
//!
//! | KIND | run |
//! |---|---|
//! | `hour` | 3,600 s of a shop: 5 requests in nested groups, a ramp, a step, a spike, errors, monitors |
//! | `nine_hours` | the same shop for 32,400 s, at a tenth of the rate, with memory that grows |
//! | `many_requests` | 300 s of 200 names, long ones among them, in a tree of groups |
//! | `single_request` | one request and its response |
//! | `all_errors` | 60 s in which every request fails, in nine ways |
//! | `hostile` | names, failure examples, headers, facts, and notes with markup, control and direction characters |
//! | `streams` | 120 s of 400 event streams and a few requests |
//! | `two_machines` | two shops of 300 s at the same time, merged |
//! | `empty` | 20 s in which ten users wait for responses that never arrive |
//! | `gap` | 120 s of which 15 are missing |
//! | `cut_off` | 90 s of a run that was killed |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "as the tests whose tools it has"
)]

use plimsoll_record::{Error, RunRecord, run_file};
use plimsoll_testkit::scene::Made;
use plimsoll_testkit::{odd_runs, shop, trouble};
use std::path::{Path, PathBuf};

type Kind = (&'static str, fn(&Path, u64) -> Result<(), Error>);

const KINDS: [Kind; 11] = [
    ("hour", |out, seed| shop::hour(seed).write(out)),
    ("nine_hours", |out, seed| shop::nine_hours(seed).write(out)),
    ("many_requests", |out, seed| odd_runs::many_requests(seed).write(out)),
    ("single_request", |out, seed| odd_runs::single_request(seed).write(out)),
    ("all_errors", |out, seed| trouble::all_errors(seed).write(out)),
    ("hostile", |out, seed| odd_runs::hostile(seed).write(out)),
    ("streams", |out, seed| odd_runs::streams(seed).write(out)),
    ("two_machines", two_machines),
    ("empty", |out, seed| trouble::empty(seed).write(out)),
    ("gap", |out, seed| trouble::gap(seed).write(out)),
    ("cut_off", |out, seed| trouble::cut_off(seed).write(out)),
];

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    let usage = format!("usage: make_run KIND OUT.plim [SEED], where KIND is one of {}", names.join(", "));
    let (kind, out, seed) = match words.as_slice() {
        [kind, out] => (kind, out, 7),
        [kind, out, seed] => {
            (kind, out, seed.parse().map_err(|_| format!("invalid seed `{seed}`; {usage}"))?)
        }
        _ => return Err(usage),
    };
    let Some((_, make)) = KINDS.iter().find(|(name, _)| name == kind) else { return Err(usage) };
    make(Path::new(out), seed).map_err(|e| e.to_string())
}

fn two_machines(out: &Path, seed: u64) -> Result<(), Error> {
    let part = |number: u32| -> Result<(PathBuf, RunRecord), Error> {
        let path = out.with_extension(format!("part-{number}.plim"));
        shop::half(seed + u64::from(number), number).write(&path)?;
        Ok((path.clone(), run_file::read(&path)?))
    };
    let ((path_a, a), (path_b, b)) = (part(1)?, part(2)?);
    run_file::write(out, &RunRecord::merge(a, b)?)?;
    for path in [path_a, path_b] {
        // A leftover file would only affect the next run with the same name.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}
