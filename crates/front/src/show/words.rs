//! Lines, durations, and numbers as users write them.

use plimsoll_plan::script::Delay;
use plimsoll_plan::unit::SECOND_NS;

/// Column of the facts.
const MARGIN: usize = 13;

/// A text builder.
#[derive(Default)]
pub struct Lines(String);

impl Lines {
    pub fn fact(&mut self, name: &str, text: &str) {
        self.0.push_str(&format!("{name:MARGIN$}{}\n", printable(text)));
    }

    pub fn section(&mut self, title: &str) {
        self.0.push_str(&format!("\n{}\n", printable(title)));
    }

    pub fn line(&mut self, depth: usize, text: &str) {
        self.0.push_str(&format!("{}{}\n", "  ".repeat(depth), printable(text)));
    }

    pub fn finish(self) -> String {
        self.0
    }
}

/// Replaces control characters, which must not reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns a duration such as `1m30s`, in the format of files.
pub fn time(ns: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (3600 * SECOND_NS, "h"),
        (60 * SECOND_NS, "m"),
        (SECOND_NS, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    let mut rest = ns;
    let mut text = String::new();
    for (unit_ns, name) in UNITS {
        let number = rest / unit_ns;
        rest %= unit_ns;
        if number > 0 {
            text.push_str(&format!("{number}{name}"));
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// Returns a count such as `1 user` or `1,200 users`.
pub fn count(number: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(number), if number == 1 { "" } else { "s" })
}

pub fn bytes(number: u64) -> String {
    count(number, "byte")
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a level with at most three decimals.
pub fn level(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub fn delay(delay: &Delay) -> String {
    match delay {
        Delay::Constant { ns } => time(*ns),
        Delay::Uniform { low_ns, high_ns } => format!("uniform {} to {}", time(*low_ns), time(*high_ns)),
        Delay::Normal { mean_ns, deviation_ns } => {
            format!("normal with mean {} and deviation {}", time(*mean_ns), time(*deviation_ns))
        }
        Delay::Exponential { mean_ns } => format!("exponential with mean {}", time(*mean_ns)),
    }
}

/// Returns the beginning of a long text, on one line.
pub fn short(text: &str) -> String {
    plimsoll_build::sentence::short(text)
}
