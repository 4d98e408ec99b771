//! What other tools and people published is read and audited without a panic; no quote is from beyond the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_audit::foreign::read;

const NAMES: [&str; 4] = ["report.md", "results.jtl", "stats.csv", "out.txt"];

fuzz_target!(|input: (u8, &str)| {
    let (name, text) = input;
    let document = read(NAMES[usize::from(name) % NAMES.len()], text);
    let lines = text.lines().count() as u32;
    for finding in plimsoll_audit::audit(&[document]).findings {
        assert!(finding.quotes.iter().all(|quote| quote.line <= lines.max(1)));
    }
});
