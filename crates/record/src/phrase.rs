//! Numbers in sentences: cautions and the verdict carry their evidence as text that can be quoted.
//!
//! Everything else is turned into text by the renderers. Three significant digits, counts exact.

/// `4,812`
pub(crate) fn count(n: u64) -> String {
    grouped(n.to_string())
}

/// `1 attempt`, `44 attempts`: for words that take an s.
pub(crate) fn counted(n: u64, word: &str) -> String {
    format!("{} {word}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `812 ns`, `8.14 ms`, `15 s`, `10,800 s`
pub(crate) fn duration(ns: f64) -> String {
    let (scale, unit) = match ns {
        n if n < 1e3 => (1.0, "ns"),
        // A value that would round up to 1,000 belongs to the next unit.
        n if n < 999.5e3 => (1e3, "us"),
        n if n < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", three(ns / scale))
}

/// `2.1 %`, `0.01 %`, `98.96 %`. Never 0 % or 100 % for what is beside them: 0.99997 is `99.997 %`.
pub(crate) fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if (98.0..100.0).contains(&percent) {
        // As many decimals as show the distance to 100, and two at least; ten are beyond any number of requests.
        let decimals = (1 - exponent(100.0 - percent)).clamp(2, 10) as usize;
        let shown = trimmed(format!("{percent:.decimals$}"));
        return format!("{} %", if shown == "100" { "99.9999999999" } else { &shown });
    }
    format!("{} %", three(percent))
}

/// `4,812/s`, `81.4/s`
pub(crate) fn rate(per_s: f64) -> String {
    format!("{}/s", three(per_s))
}

/// `p99`, `p99.9`
pub(crate) fn quantile(q: f64) -> String {
    // Nine decimals hide that 0.999 times 100 is 99.9 and a bit.
    format!("p{}", trimmed(format!("{:.9}", q * 100.0)))
}

/// Three significant digits without zeros behind the point; whole numbers from 100 on.
pub(crate) fn three(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return "0".into();
    }
    let decimals = (2 - exponent(x)).max(0) as usize;
    grouped(trimmed(format!("{x:.decimals$}")))
}

fn exponent(x: f64) -> i32 {
    x.abs().log10().floor() as i32
}

fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Thousands separators before the point.
fn grouped(text: String) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    let mut out = String::with_capacity(text.len() + whole / 3);
    for (at, c) in text.char_indices() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
