//! Axes: map values to positions, with round numbers at the ticks and the unit that suits the highest value.

use crate::{Axis, Scale as Kind, Unit};
use plimsoll_plan::phrase::{bytes, chosen_ns, quantile_name, trimmed_value};

/// One axis, ready to draw.
#[derive(Debug, Clone)]
pub struct Scale {
    from: f64,
    to: f64,
    kind: Kind,
    /// Values of the ticks, and their labels.
    pub marks: Vec<(f64, String)>,
    /// The label with its unit.
    pub label: String,
}

/// The largest value on any axis.
const FARTHEST: f64 = 1e100;

/// The divisor for values, and the resulting unit.
struct Shown {
    by: f64,
    unit: &'static str,
}

impl Scale {
    /// Creates the scale of an axis. `least` and `most` are the range of the drawn values; `marks` is the approximate
    /// number of ticks.
    pub fn of(axis: &Axis, least: f64, most: f64, marks: usize) -> Scale {
        match axis.scale {
            Kind::Linear => Scale::linear(axis, least, most, marks),
            Kind::Log => Scale::log(axis, least, most, marks),
            Kind::Nines => Scale::nines(axis, most),
        }
    }

    fn linear(axis: &Axis, least: f64, most: f64, marks: usize) -> Scale {
        // Beyond this, the steps between ticks would overflow; no measured value comes near it.
        let within = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(-FARTHEST, FARTHEST) };
        let low = within(axis.from.unwrap_or(if least < 0.0 { least } else { 0.0 }));
        let most = within(axis.to.unwrap_or(most));
        let most = if most > low { most } else { low + fallback(axis.unit).max(1e-9 * low.abs()) };
        let shown = format_max(axis.unit, most.abs().max(low.abs()));
        let step = shown.by * round_step((most - low) / shown.by / marks.max(1) as f64);
        // An axis without a set end extends to the next tick.
        let from = if axis.from.is_some() { low } else { (low / step + 1e-9).floor() * step };
        let to = if axis.to.is_some() { most } else { (most / step - 1e-9).ceil() * step };
        // A line on the upper edge would be invisible; a ratio ends at 1.
        let is_on_edge = axis.to.is_none() && most > 0.0 && to - most < 0.02 * (to - from);
        let to = if is_on_edge && axis.unit != Unit::Ratio { to + step } else { to };
        let (first, last) = ((from / step - 1e-6).ceil() as i64, (to / step + 1e-6).floor() as i64);
        let round: Vec<f64> = (first..=last).map(|k| k as f64 * step).collect();
        let at = if axis.ticks.is_empty() { round } else { axis.ticks.clone() };
        let text = |value: f64| match axis.unit {
            Unit::Ratio => format!("{}%", mark(value * 100.0)),
            Unit::Quantile => quantile_name(value),
            _ => mark(value / shown.by),
        };
        let marks = named(axis, &at, text);
        Scale { from, to, kind: Kind::Linear, marks, label: labelled(axis, shown.unit) }
    }

    /// Creates a scale with ticks at powers of ten, each with its own unit: one unit for five of them would give rows
    /// of zeros.
    fn log(axis: &Axis, least: f64, most: f64, marks: usize) -> Scale {
        let most = axis.to.unwrap_or(most).max(f64::MIN_POSITIVE);
        let least = axis.from.unwrap_or(least).clamp(f64::MIN_POSITIVE, most);
        let (mut from, mut to) = (least, most);
        if axis.from.is_none() || axis.to.is_none() {
            let margin = (most / least).max(1.5).powf(0.04);
            from = axis.from.unwrap_or(least / margin);
            to = axis.to.unwrap_or(most * margin);
        }
        if to <= from * 1.000_001 {
            (from, to) = (from / 2.0, to * 2.0);
        }
        let mut at = if axis.ticks.is_empty() { decades(from, to, marks) } else { axis.ticks.clone() };
        at.retain(|value| *value >= from * 0.999_999 && *value <= to * 1.000_001);
        // Omit ticks whose labels would overlap; the points stay.
        let mut apart: Vec<f64> = Vec::new();
        for value in at {
            let is_apart = |other: &f64| (value / other).ln().abs() > (to / from).ln() / 16.0;
            if apart.iter().all(is_apart) {
                apart.push(value);
            }
        }
        let text = |value: f64| match axis.unit {
            Unit::Nanoseconds => chosen_ns(value.round().max(0.0) as u64),
            Unit::Bytes => bytes(value.round().max(0.0) as u64),
            Unit::Ratio => format!("{}%", mark(value * 100.0)),
            _ => mark(value),
        };
        let marks = named(axis, &apart, text);
        let label = match axis.unit {
            Unit::Nanoseconds | Unit::Bytes | Unit::Ratio => axis.label.clone(),
            unit => labelled(axis, format_max(unit, 0.0).unit),
        };
        Scale { from, to, kind: Kind::Log, marks, label: format!("{label} (logarithmic)") }
    }

    /// Creates a scale with equal steps from 0 to 0.9 to 0.99 to 0.999.
    fn nines(axis: &Axis, most: f64) -> Scale {
        let to = nines(axis.to.unwrap_or(most)).max(1.0);
        let mut marks = vec![(0.0, "0%".to_owned()), (0.5, "p50".to_owned())];
        for k in 1..=to.floor().min(9.0) as i32 {
            let q = 1.0 - 10f64.powi(-k);
            marks.push((q, quantile_name(q)));
        }
        let label = axis.label.clone();
        Scale { from: 0.0, to, kind: Kind::Nines, marks, label }
    }

    /// Returns the position of a value, 0 to 1; a value outside the axis is at the edge.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.kind {
            Kind::Linear => (value - self.from) / (self.to - self.from),
            Kind::Log => (value.max(f64::MIN_POSITIVE) / self.from).ln() / (self.to / self.from).ln(),
            Kind::Nines => nines(value) / self.to,
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { f64::from(u8::from(place > 0.0)) }
    }

    /// Returns whether a value lies on the axis.
    pub fn holds(&self, value: f64) -> bool {
        let value = if self.kind == Kind::Nines { nines(value) } else { value };
        let slack = (self.to - self.from) * 1e-9;
        value >= self.from - slack && value <= self.to + slack
    }

    /// Returns the base line of columns.
    pub fn ground(&self) -> f64 {
        if self.kind == Kind::Linear && self.from < 0.0 { self.place(0.0) } else { 0.0 }
    }
}

fn nines(q: f64) -> f64 {
    if q < 1.0 { -(1.0 - q.max(0.0)).log10() } else { f64::INFINITY }
}

/// Returns the end of an axis on which everything is 0.
fn fallback(unit: Unit) -> f64 {
    match unit {
        Unit::Nanoseconds => 1e6,
        Unit::Ratio => 0.01,
        Unit::Bytes | Unit::BytesPerSecond => 1e3,
        _ => 1.0,
    }
}

fn named(axis: &Axis, at: &[f64], text: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    let name = |k: usize| axis.names.get(k).filter(|_| !axis.ticks.is_empty());
    at.iter()
        .enumerate()
        .map(|(k, value)| (*value, name(k).cloned().unwrap_or_else(|| text(*value))))
        .collect()
}

fn labelled(axis: &Axis, unit: &str) -> String {
    match unit {
        "" => axis.label.clone(),
        // `requests per second`
        unit if unit.starts_with("per ") => format!("{} {unit}", axis.label),
        unit => format!("{}, {unit}", axis.label),
    }
}

/// Returns the unit of an axis that reaches this far.
fn format_max(unit: Unit, most: f64) -> Shown {
    let (by, unit) = match unit {
        Unit::Seconds if most > 7_200.0 => (3_600.0, "h"),
        Unit::Seconds if most > 600.0 => (60.0, "min"),
        Unit::Seconds => (1.0, "s"),
        Unit::Nanoseconds => match most {
            n if n >= 2e9 => (1e9, "s"),
            n if n >= 2e6 => (1e6, "ms"),
            n if n >= 2e3 => (1e3, "µs"),
            _ => (1.0, "ns"),
        },
        Unit::Bytes => scaled_bytes(most, ["B", "kB", "MB", "GB"]),
        Unit::BytesPerSecond => scaled_bytes(most, ["B/s", "kB/s", "MB/s", "GB/s"]),
        Unit::PerSecond => (1.0, "per second"),
        Unit::Cores => (1.0, "cores"),
        Unit::Ratio | Unit::Count | Unit::Quantile | Unit::Plain => (1.0, ""),
    };
    Shown { by, unit }
}

/// Decimal prefixes, as everywhere.
fn scaled_bytes(most: f64, units: [&'static str; 4]) -> (f64, &'static str) {
    match most {
        n if n >= 2e9 => (1e9, units[3]),
        n if n >= 2e6 => (1e6, units[2]),
        n if n >= 2e3 => (1e3, units[1]),
        _ => (1.0, units[0]),
    }
}

/// Returns 1, 2, or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|s| *s >= step * (1.0 - 1e-9)).unwrap_or(step)
}

/// Returns powers of ten: if there are few, also multiples of them; if there are many, only every second or third.
fn decades(from: f64, to: f64, marks: usize) -> Vec<f64> {
    let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let spans = (to / from).log10();
    let fits = |per: f64| spans * per <= marks as f64 + 2.0;
    let factors: &[f64] = match () {
        () if fits(5.0) => &[1.0, 2.0, 3.0, 5.0, 7.0],
        () if fits(3.0) => &[1.0, 2.0, 5.0],
        () if fits(2.0) => &[1.0, 3.0],
        () => &[1.0],
    };
    let every = ((spans / (1.5 * marks.max(2) as f64)).ceil() as usize).max(1);
    let powers = (first..=last).step_by(every).map(|k| 10f64.powi(k));
    powers.flat_map(|power| factors.iter().map(move |factor| factor * power)).collect()
}

/// Three steps of 0.1 add up to 0.30000000000000004.
fn mark(value: f64) -> String {
    trimmed_value((value * 1e9).round() / 1e9)
}
