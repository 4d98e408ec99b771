//! Numbers as k6 writes them: decimals are cut off, not rounded, in times and shares.

use plimsoll_k6::settings::TimeUnit;

/// Returns a number with up to `digits` decimals, without trailing zeros.
pub fn plain(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns the same with the further decimals cut off.
fn cut(value: f64, digits: i32) -> String {
    let factor = 10_f64.powi(digits);
    // A product such as 1.15 * 100 may be just below the number that it is.
    let scaled = value * factor;
    let near = scaled.round();
    let whole = if (scaled - near).abs() < 1e-9 * scaled.abs().max(1.0) { near } else { scaled.trunc() };
    plain(whole / factor, digits as usize)
}

/// Returns a time in ms as text.
pub fn time(ms: f64, unit: Option<TimeUnit>) -> String {
    match unit {
        Some(TimeUnit::Seconds) => format!("{:.2}s", ms / 1e3),
        Some(TimeUnit::Milliseconds) => format!("{ms:.2}ms"),
        Some(TimeUnit::Microseconds) => format!("{:.2}µs", ms * 1e3),
        None => best_time(ms),
    }
}

fn best_time(ms: f64) -> String {
    if ms == 0.0 {
        return "0s".into();
    }
    if ms < 0.001 {
        return format!("{}ns", plain((ms * 1e6).trunc(), 0));
    }
    if ms < 1.0 {
        return format!("{}µs", cut(ms * 1e3, 2));
    }
    if ms < 1e3 {
        return format!("{}ms", cut(ms, 2));
    }
    let minutes = (ms / 60_000.0).trunc();
    let digits = if minutes > 0.0 { 0 } else { 2 };
    let seconds = format!("{}s", cut(ms % 60_000.0 / 1e3, digits));
    let hours = (minutes / 60.0).trunc();
    match (hours > 0.0, minutes > 0.0) {
        (false, false) => seconds,
        (false, true) => format!("{minutes}m{seconds}"),
        (true, _) => format!("{hours}h{}m{seconds}", minutes % 60.0),
    }
}

/// Returns a number of bytes in decimal units.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 10.0 {
        return format!("{} B", plain(bytes, 6));
    }
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1e3 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    let tenths = (value * 10.0 + 0.5).floor() / 10.0;
    let digits = usize::from(tenths < 10.0);
    // proof: the loop keeps `unit` below the length.
    format!("{tenths:.digits$} {}", UNITS[unit])
}

/// Returns a share in percent with two decimals.
pub fn percent(ratio: f64) -> String {
    format!("{:.2}%", (ratio * 1e4 + 1e-9).trunc() / 1e2)
}
