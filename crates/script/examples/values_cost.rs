//! What data cost: opening a file of a million rows, reading a value of it, filling a template.
//!
//! `cargo run --release -p plimsoll-script --example values_cost`

#![allow(clippy::print_stdout)]

use plimsoll_plan::data::{AtEnd, Feeder, Format, RowOrder, Sharing};
use plimsoll_plan::load::Share;
use plimsoll_plan::program::UserSlot;
use plimsoll_plan::value::{Alphabet, Escape, Function, Part, Placeholder, Text, TimeFormat};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::{Counters, Globals, Scope, Vars, fill};
use plimsoll_stats::random::SplitMix64;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use std::{env, fs, process};

const ROWS: usize = 1_000_000;

fn main() -> Result<(), String> {
    let path = env::temp_dir().join(format!("plimsoll-values-cost-{}", process::id()));
    let outcome = files(&path).and_then(|()| templates());
    fs::remove_file(&path).map_err(|error| format!("cannot remove `{}`: {error}", path.display()))?;
    outcome
}

fn files(path: &Path) -> Result<(), String> {
    let csv = Format::Csv { delimiter: b',', header: None };
    type Row = fn(&mut String, usize) -> std::fmt::Result;
    let kinds: [(&str, &str, Format, Row); 4] = [
        ("csv", "id,mail,name,token", csv.clone(), |text, n| {
            writeln!(text, "{n:07},user{n:07}@example.org,User {n:07},{:08x}", n * 77)
        }),
        ("csv, crlf", "id,mail,name,token\r", csv.clone(), |text, n| {
            write!(text, "{n:07},user{n:07}@example.org,User {n:07},{:08x}\r\n", n * 77)
        }),
        ("csv, quoted", "id,mail,name,token", csv, |text, n| {
            writeln!(text, "{n:07},user{n:07}@example.org,\"User {n:07}\",{:08x}", n * 77)
        }),
        ("json lines", "", Format::JsonLines, |text, n| {
            writeln!(text, "{{\"id\":{n},\"mail\":\"user{n:07}@example.org\",\"token\":\"{:08x}\"}}", n * 77)
        }),
    ];
    for (kind, header, format, row) in kinds {
        let mut text = if header.is_empty() { String::new() } else { format!("{header}\n") };
        for n in 0..ROWS {
            row(&mut text, n).map_err(|error| error.to_string())?;
        }
        fs::write(path, &text).map_err(|error| error.to_string())?;
        let feeder = Feeder {
            name: "users".into(),
            path: path.into(),
            format,
            columns: vec!["id".into(), "mail".into(), "token".into()],
            share: Sharing::Unique,
            order: RowOrder::Random,
            at_end: AtEnd::Recycle,
            made_by_setup: false,
        };
        let (read_ms, size) = best(5, || fs::read(path).map_or(0, |bytes| bytes.len()));
        let (open_ms, opened) = best(5, || Feeds::open(std::slice::from_ref(&feeder), 1, Share::default()));
        let feeds = Arc::new(opened.map_err(|unready| unready.to_string())?);
        let mut rows = Rows::new(&feeds, UserSlot { workload: 0, user: 0, id: 0, users: 1 });
        let mut out = Vec::new();
        let value_ns = per_round(|_| {
            rows.new_iteration();
            out.clear();
            black_box(rows.value(0, 2, &mut out)).is_ok()
        });
        println!(
            "{kind}: {ROWS} rows, {:.0} MB: read {read_ms:.1} ms, open {open_ms:.1} ms, the last column of a random \
             row {value_ns:.0} ns",
            size as f64 / 1e6
        );
    }
    Ok(())
}

fn templates() -> Result<(), String> {
    let (mut vars, globals, counters) = (Vars::new(0), Globals::new(0), Counters::new());
    let mut rows = Rows::new(&Arc::new(Feeds::default()), UserSlot { workload: 0, user: 0, id: 0, users: 1 });
    let mut random = SplitMix64::new(1);
    let three = [
        Function::Uuid,
        Function::RandomInt { low: 1, high: 1_000_000 },
        Function::RandomString { length: 16, alphabet: Alphabet::Alphanumeric },
    ];
    let iso = [Function::Now(TimeFormat::Iso)];
    for (name, functions) in [("three random values", &three[..]), ("an ISO time", &iso[..])] {
        let mut text = Text::literal("{\"id\": \"");
        for function in functions {
            text.parts.push(Part::Placeholder(Placeholder::Call(function.clone()), Escape::Json));
            text.push_literal(b"\", \"next\": \"");
        }
        let mut out = Vec::new();
        let ns = per_round(|iteration| {
            out.clear();
            let mut scope = Scope {
                vars: &mut vars,
                globals: &globals,
                rows: &mut rows,
                random: &mut random,
                counters: &counters,
                unix_ns: 1_769_860_800_123_456_789,
                user: 1,
                iteration,
                timings: &[],
                request: Default::default(),
            };
            black_box(fill(&text, &mut scope, &mut out)).is_ok()
        });
        println!("{name}: {ns:.0} ns");
    }
    Ok(())
}

/// The shortest of `times` times, ms, and the last result.
fn best<T>(times: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let begin = Instant::now();
        let result = black_box(work());
        (begin.elapsed().as_secs_f64() * 1e3, result)
    };
    let (mut shortest, mut result) = timed();
    for _ in 1..times {
        let (ms, next) = timed();
        shortest = shortest.min(ms);
        result = next;
    }
    (shortest, result)
}

/// Mean of a million rounds, ns.
fn per_round(mut round: impl FnMut(u64) -> bool) -> f64 {
    let (ms, held) = best(3, || (1..=ROWS as u64).all(&mut round));
    assert!(held, "a value was missing");
    ms * 1e6 / ROWS as f64
}
