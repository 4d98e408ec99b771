//! The whole loop, `run`, `find` and `compare`, at loads drawn by lot against a ruler whose answer is known beforehand:
//! how often the tool is right, how often wrong, and how often it says that it cannot tell.

#![allow(clippy::print_stdout, reason = "the table is the result")]

use crate::support::{Ruler, Scratch, Tool, alone};
use std::collections::BTreeMap;

/// Questions, unless `PLIMSOLL_QUESTIONS` names another number.
const ALL: u64 = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunOutcome {
    Right,
    Wrong,
    Undecided,
}

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Lot(u64);

impl Lot {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly on a logarithmic scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf((self.draw() >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// Every answer takes `delay`; the limit of its p90 is far above or below, the truth is clear.
fn run(lot: &mut Lot) -> (RunOutcome, String) {
    let delay_ms = lot.between(2.0, 60.0).round();
    let rate = lot.between(100.0, 2_000.0).round();
    let passes = lot.draw().is_multiple_of(2);
    // Half of the delay is missed by each answer; two delays and 30 ms leave room for the worst of machines.
    let limit_ms = if passes { 2.0 * delay_ms + 30.0 } else { delay_ms / 2.0 };
    let ruler = Ruler::start(&["--delay", &format!("{delay_ms}ms")]);
    let rule = format!("response_time p90 < {limit_ms}ms");
    let (url, rate_text) = (ruler.url("/"), rate.to_string());
    let said = Tool::run(&[&url, "-r", &rate_text, "-d", "1500ms", "--threshold", &rule, "--json"]).json();
    let result = said["verdict"]["result"].as_str().unwrap_or_default().to_owned();
    let told = match (result.as_str(), passes) {
        ("PASS", true) | ("FAIL", false) => RunOutcome::Right,
        ("INCONCLUSIVE", _) => RunOutcome::Undecided,
        _ => RunOutcome::Wrong,
    };
    (told, format!("{rate}/s of {delay_ms} ms against {limit_ms} ms: {}", said["verdict"]["sentence"]))
}

/// `workers` places of `service` each carry workers / service.
fn find(lot: &mut Lot) -> (RunOutcome, String) {
    let workers = 1 + lot.draw() % 6;
    let service_ms = lot.between(4.0, 20.0).round();
    let truth = workers as f64 * 1e3 / service_ms;
    let (places, service) = (workers.to_string(), format!("{service_ms}ms"));
    let ruler = Ruler::start(&["--workers", &places, "--service", &service, "--queue", "5000"]);
    let rule = format!("response_time p99 < {}ms", service_ms * 5.0 + 20.0);
    let from = format!("{:.0}/s", truth / lot.between(2.0, 8.0));
    let (url, within) = (ruler.url("/"), "5%");
    let mut args =
        vec!["find", &url, "--threshold", &rule, "--threshold", "error_rate < 1%", "--from", &from];
    args.extend(["--precision", within, "--confirm", "1", "--max-time", "25s", "--json"]);
    let said = Tool::run(&args).json();
    let of = |place: &str| said.pointer(place).and_then(serde_json::Value::as_f64);
    let told = match (of("/capacity/rate_per_s"), of("/capacity/interval/0"), of("/capacity/interval/1")) {
        _ if said["capacity"]["is_lower_bound"] == true => RunOutcome::Undecided,
        (Some(_), Some(low), Some(high)) if low > 1.1 * truth || high < 0.9 * truth => RunOutcome::Wrong,
        (Some(found), ..) if (found / truth - 1.0).abs() <= 0.15 => RunOutcome::Right,
        _ => RunOutcome::Undecided,
    };
    (told, format!("{truth:.0}/s: {}", said["sentence"]))
}

/// The same delay on both sides, or one and a half to four times as much.
fn compare(lot: &mut Lot) -> (RunOutcome, String) {
    let delay_ms = lot.between(3.0, 20.0).round();
    let factor = if lot.draw().is_multiple_of(2) { 1.0 } else { lot.between(1.5, 4.0) };
    let scratch = Scratch::new();
    let (a, b) = (scratch.path("a.plim"), scratch.path("b.plim"));
    let rate = lot.between(100.0, 800.0).round().to_string();
    for (path, delay) in [(&a, delay_ms), (&b, delay_ms * factor)] {
        let ruler = Ruler::start(&["--delay", &format!("{:.0}us", delay * 1e3)]);
        Tool::run(&[&ruler.url("/"), "-r", &rate, "-d", "1500ms", "-q", "--out", path]);
    }
    let said = Tool::run(&["compare", &a, &b, "--json"]).json();
    let one = &said["comparisons"][0];
    let told = match (one["verdict"].as_str().unwrap_or_default(), factor > 1.0) {
        ("slower", true) | ("equivalent", false) => RunOutcome::Right,
        ("inconclusive", _) => RunOutcome::Undecided,
        // Response times of one run each; a median or a tail that differs says nothing of the service.
        _ => RunOutcome::Wrong,
    };
    (told, format!("{delay_ms} ms, {factor:.2} times as much: {}", one["sentence"]))
}

/// One in ten is a search, three are comparisons, six are runs.
#[test]
#[ignore = "two hundred questions in a quarter of an hour: `cargo xtask nightly`"]
fn two_hundred_questions_are_answered_rightly_or_not_at_all() {
    let _alone = alone();
    let all = std::env::var("PLIMSOLL_QUESTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(ALL);
    let mut lot = Lot(2_026);
    let mut table: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for number in 0..all {
        let (kind, (told, how)) = match number % 10 {
            3 => ("find", find(&mut lot)),
            1 | 5 | 8 => ("compare", compare(&mut lot)),
            _ => ("run", run(&mut lot)),
        };
        table.entry(kind).or_default()[told as usize] += 1;
        println!("{number:>3} {kind:<8} {told:?}: {how}");
    }
    println!("| command | asked | right | wrong | undecided |\n|---|--:|--:|--:|--:|");
    for (kind, [right, wrong, undecided]) in &table {
        println!("| `{kind}` | {} | {right} | {wrong} | {undecided} |", right + wrong + undecided);
    }
    let sum = |at: usize| table.values().map(|row| row[at]).sum::<u32>();
    // With one run per side, one of twenty comparisons may report a wrong difference; anything else is a defect.
    let (wrong, most) = (sum(RunOutcome::Wrong as usize), 1 + all as u32 / 50);
    assert!(wrong <= most, "{wrong} wrong answers of {all}");
    assert!(
        u64::from(sum(RunOutcome::Right as usize)) * 4 >= all * 3,
        "three in four are answered: {table:?}"
    );
}
