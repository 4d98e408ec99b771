//! Numbers as text: examples that read like a table, and the promise that reading back is at most 0.5% off.

use crate::output::fixtures::Random;
use plimsoll_output::Look;
use plimsoll_output::format::*;
use plimsoll_output::style::can_repaint;
use plimsoll_plan::phrase::decisive_ratio;
use plimsoll_plan::threshold::FigureUnit;

#[test]
fn durations_have_three_significant_digits() {
    let table = [
        (0, "0 ns"),
        (7, "7 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (812_000, "812 µs"),
        (999_600, "1.00 ms"),
        (8_140_000, "8.14 ms"),
        (81_449_999, "81.4 ms"),
        (1_320_000_000, "1.32 s"),
        (59_960_000_000, "60.0 s"),
        (99_900_000_000, "99.9 s"),
        (99_960_000_000, "1m 40s"),
        (125_000_000_000, "2m 05s"),
        (3_725_000_000_000, "1h 02m 05s"),
    ];
    for (ns, text) in table {
        assert_eq!(duration_ns(ns), text, "{ns}");
    }
    assert_eq!(maybe_ns(None), "-");
    assert_eq!(duration_f64_ns(f64::NAN), "-");
    assert_eq!(at_least(10_000_000_000), "≥ 10.0 s");
    assert_eq!(duration_f64_ns(12.34), "12.3 ns");
    assert_eq!(chosen_ns(10_000_000_000), "10 s");
    assert_eq!(chosen_ns(125_000_000_000), "2m 05s");
}

#[test]
fn intervals_use_the_unit_of_their_value() {
    assert_eq!(interval(8_140_000, Some(7_900_000), Some(8_410_000)), "8.14 ms (7.90–8.41)");
    assert_eq!(interval(1_020_000, Some(985_000), Some(1_050_000)), "1.02 ms (0.985–1.05)");
    assert_eq!(interval(8_140_000, Some(7_900_000), None), "8.14 ms (≥ 7.90)");
    assert_eq!(interval(8_140_000, None, Some(8_410_000)), "8.14 ms (≤ 8.41)");
    assert_eq!(interval(8_140_000, Some(7_900_000), Some(1_200_000_000)), "8.14 ms (7.90 ms–1.20 s)");
    assert_eq!(interval(812, Some(800), Some(990)), "812 ns (800–990)");
    assert_eq!(interval(8_140_000, None, None), "8.14 ms");
}

#[test]
fn rates_counts_bytes_and_ratios() {
    assert_eq!(rate_per_s(4_812.3), "4,812/s");
    assert_eq!(rate_per_s(81.44), "81.4/s");
    assert_eq!(rate_per_s(0.125), "0.125/s");
    assert_eq!(rate_per_s(999.7), "1,000/s");
    assert_eq!(rate_per_s(f64::INFINITY), "-");
    assert_eq!(count(0), "0");
    assert_eq!(count(999), "999");
    assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    assert_eq!(bytes(683_481), "683 kB");
    assert_eq!(bytes(512), "512 B");
    assert_eq!(bytes(999_999), "1.00 MB");
    assert_eq!(bytes_per_s(1.21e9), "1.21 GB/s");
    assert_eq!(ratio(0.0013), "0.1%");
    assert_eq!(ratio(0.12), "12%");
    assert_eq!(ratio(12.346), "1,235%");
    assert_eq!(quantile_name(0.999), "p99.9");
    assert_eq!(quantile_name(0.5), "p50");
    assert_eq!(figure(0.02, FigureUnit::Ratio), "2%");
    assert_eq!(figure(72_180.0, FigureUnit::Count), "72,180");
    assert_eq!(figure(8.14e6, FigureUnit::Nanoseconds), "8.14 ms");
}

#[test]
fn a_ratio_beside_0_or_100_per_cent_is_never_rounded_onto_it() {
    assert_eq!(ratio(1.0), "100%");
    assert_eq!(ratio(0.9896), "99%");
    assert_eq!(ratio(0.995), "99.5%");
    assert_eq!(ratio(0.9987), "99.9%");
    assert_eq!(ratio(0.99997), "99.997%");
    assert_eq!(ratio(0.0002), "<0.1%");
    assert_eq!(ratio(0.0), "0%");
    assert_eq!(ratio(0.999_999_9), "99.99999%");
    assert_eq!(decisive_ratio(0.000_000_3), "0.00003%");
    assert_eq!(decisive_ratio(0.00056), "0.056%");
    assert_eq!(decisive_ratio(0.985), "98.5%");
    assert_eq!(decisive_ratio(0.48), "48%");
    let mut random = Random(3);
    for _ in 0..10_000 {
        let near = 1.0 - 10f64.powf(-1.0 - 11.0 * random.unit());
        assert!(near == 1.0 || ratio(near) != "100%", "{near}");
    }
}

/// Reads a printed duration, rate or size back.
fn parse(text: &str) -> f64 {
    let text = text.replace(',', "");
    let mut total = 0.0;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let letters = rest.find(|c: char| c.is_alphabetic() || c == '/' || c == '%').unwrap_or(rest.len());
        let number: f64 = rest[..letters].trim().parse().unwrap();
        rest = &rest[letters..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        total += number
            * match rest[..end].trim() {
                "ns" | "B" | "/s" => 1.0,
                "µs" | "kB" => 1e3,
                "ms" | "MB" => 1e6,
                "s" | "GB" => 1e9,
                "TB" => 1e12,
                "PB" => 1e15,
                "m" => 60e9,
                "" => 1.0,
                "h" => 3_600e9,
                "%" => 0.01,
                unit => panic!("`{unit}` in `{text}`"),
            };
        rest = &rest[end..];
    }
    total
}

#[test]
fn reading_a_figure_back_is_at_most_half_a_per_cent_off() {
    let mut random = Random(1);
    let close = |text: String, value: f64| {
        let error = (parse(&text) - value).abs() / value;
        // The last bit of the division is not a matter of rounding.
        assert!(error <= 0.005 + 1e-12, "`{text}` for {value}: {error}");
    };
    for _ in 0..50_000 {
        let value = 10f64.powf(14.0 * random.unit());
        close(duration_ns(value as u64), (value as u64) as f64);
        close(duration_f64_ns(value), value);
        close(bytes(value as u64), (value as u64) as f64);
        let small = value / 1e4;
        close(rate_per_s(small), small);
    }
}

#[test]
fn a_figure_is_never_rounded_across_its_limit() {
    let mut random = Random(7);
    for unit in [FigureUnit::Nanoseconds, FigureUnit::Ratio, FigureUnit::PerSecond, FigureUnit::Number] {
        for _ in 0..10_000 {
            let top = if unit == FigureUnit::Ratio { 0.0 } else { 9.0 };
            let limit = 10f64.powf(top - 3.0 * random.unit());
            let value = limit * (1.0 + (random.unit() - 0.5) * 10f64.powf(-8.0 * random.unit()));
            let text = figure_against(value, limit, unit);
            let read = parse(&text);
            // A clock of minutes is out of reach of these limits.
            assert!((read - limit) * (value - limit) >= 0.0, "{text} for {value} at {limit}");
        }
    }
    assert_eq!(figure_against(250_000_001.0, 250_000_000.0, FigureUnit::Nanoseconds), "250.000001 ms");
    assert_eq!(figure_against(0.99, 0.99, FigureUnit::Ratio), "99%");
    assert_eq!(figure_against(0.9897, 0.99, FigureUnit::Ratio), "98.97%");
}

fn look(vars: &[(&str, &str)], is_terminal: bool, width: Option<u16>) -> Look {
    let get = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    Look::from_env(get, is_terminal, width)
}

#[test]
fn color_follows_the_conventions() {
    assert!(look(&[], true, None).color);
    assert!(!look(&[], false, None).color);
    assert!(!look(&[("NO_COLOR", "1")], true, None).color);
    assert!(look(&[("NO_COLOR", "")], true, None).color, "an empty NO_COLOR is as if not set");
    assert!(look(&[("CLICOLOR_FORCE", "1")], false, None).color);
    assert!(!look(&[("CLICOLOR_FORCE", "0")], false, None).color);
    assert!(!look(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true, None).color);
    assert!(!look(&[("TERM", "dumb")], true, None).color);
    assert!(!look(&[("CLICOLOR", "0")], true, None).color);
}

#[test]
fn width_and_letters_come_from_the_terminal_and_the_locale() {
    assert_eq!(look(&[("COLUMNS", "132")], true, Some(90)).width, 90);
    assert_eq!(look(&[("COLUMNS", "132")], true, None).width, 132);
    assert_eq!(look(&[("COLUMNS", "many")], true, Some(0)).width, 100);
    assert!(look(&[], true, None).unicode);
    assert!(look(&[("LANG", "de_DE.UTF-8")], true, None).unicode);
    assert!(!look(&[("LANG", "C")], true, None).unicode);
    assert!(!look(&[("LC_ALL", "POSIX"), ("LANG", "de_DE.UTF-8")], true, None).unicode);
    let term = |value: &'static str| move |name: &str| (name == "TERM").then(|| value.to_owned());
    assert!(can_repaint(term("xterm-256color"), true));
    assert!(!can_repaint(term("dumb"), true) && !can_repaint(term("xterm"), false));
}
