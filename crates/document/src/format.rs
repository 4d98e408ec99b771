//! Numbers as text: the words that sentences use too, and what only tables need: intervals, bytes, what is missing.

use plimsoll_analysis::summary::Quantile;
pub use plimsoll_plan::phrase::{
    NONE, bytes, bytes_f64, bytes_per_s, chosen_ns, chosen_s, count, counted, duration_f64_ns, duration_ns,
    figure, figure_against, quantile_name, quantity, rate_of, rate_per_s, ratio,
};
use plimsoll_plan::phrase::{exponent, three, time_unit};

/// The same for seconds.
pub fn duration_s(seconds: f64) -> String {
    duration_f64_ns(seconds * 1e9)
}

/// A duration or `-`.
pub fn maybe_ns(ns: Option<u64>) -> String {
    ns.map_or_else(|| NONE.into(), duration_ns)
}

/// A mean or `-`.
pub fn maybe_f64_ns(ns: Option<f64>) -> String {
    ns.map_or_else(|| NONE.into(), duration_f64_ns)
}

/// A percentile in a text: `2.00 ms`, `≥ 2.00 ms` where it is a lower bound, a dash where it has too few samples or
/// none.
pub fn quantile(quantile: Quantile) -> String {
    match quantile {
        Quantile::Exact(ns) => duration_ns(ns),
        Quantile::LowerBound(ns) => at_least(ns),
        Quantile::TooFewSamples | Quantile::Missing => NONE.into(),
    }
}

/// A figure of the load generator's health, where two digits say enough: `7.6 µs`, `120 ns`.
pub fn rough_ns(ns: u64) -> String {
    let Some(shift) =
        (ns as f64).log10().is_finite().then(|| 10f64.powi((ns as f64).log10().floor() as i32 - 1))
    else {
        return duration_ns(ns);
    };
    let rounded = if shift > 1.0 { ((ns as f64 / shift).round() * shift) as u64 } else { ns };
    let (text, unit) = match duration_ns(rounded).split_once(' ') {
        Some((text, unit)) => (text.to_owned(), unit.to_owned()),
        None => return duration_ns(rounded),
    };
    // `7.60` has a digit too many, `120` none.
    match text.split_once('.') {
        Some((whole, part)) => {
            let kept: String = part.chars().take(2usize.saturating_sub(whole.len())).collect();
            if kept.is_empty() { format!("{whole} {unit}") } else { format!("{whole}.{kept} {unit}") }
        }
        None => format!("{text} {unit}"),
    }
}

/// The same for a percentile.
pub fn rough_quantile(quantile: Quantile) -> String {
    match quantile {
        Quantile::Exact(ns) => rough_ns(ns),
        Quantile::LowerBound(ns) => format!("≥ {}", rough_ns(ns)),
        Quantile::TooFewSamples | Quantile::Missing => NONE.into(),
    }
}

/// `≥ 10.0 s`: the true value is this or more.
pub fn at_least(ns: u64) -> String {
    format!("≥ {}", duration_ns(ns))
}

/// `8.14 ms (7.90–8.41)`: a value and its interval, the bounds in the unit of the value.
pub fn interval(value_ns: u64, low_ns: Option<u64>, high_ns: Option<u64>) -> String {
    match bounds(value_ns, low_ns, high_ns) {
        None => duration_ns(value_ns),
        Some(bounds) => format!("{} ({bounds})", duration_ns(value_ns)),
    }
}

/// The bounds of an interval in the unit of its value: `7.90–8.41`, or `≥ 7.90` where the sample does not bound the
/// other side. A bound that would need a second unit brings both units: `7.90 ms–1.20 s`.
pub fn bounds(value_ns: u64, low_ns: Option<u64>, high_ns: Option<u64>) -> Option<String> {
    let (scale, _) = time_unit(value_ns as f64);
    let fits = |ns: u64| {
        let scaled = ns as f64 / scale;
        exponent(ns as f64) < 11 && (scaled == 0.0 || (-2..3).contains(&exponent(scaled)))
    };
    let bare = exponent(value_ns as f64) < 11 && low_ns.is_none_or(fits) && high_ns.is_none_or(fits);
    let show = |ns: u64| match bare {
        true if scale == 1.0 => ns.to_string(),
        true => three(ns as f64 / scale),
        false => duration_ns(ns),
    };
    match (low_ns, high_ns) {
        (Some(low), Some(high)) => Some(format!("{}–{}", show(low), show(high))),
        (Some(low), None) => Some(format!("≥ {}", show(low))),
        (None, Some(high)) => Some(format!("≤ {}", show(high))),
        (None, None) => None,
    }
}
