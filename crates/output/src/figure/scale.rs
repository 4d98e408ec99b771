//! Axes: from values to places, with round numbers at the marks.

use plimsoll_record::phrase::trimmed_value;

/// One axis.
#[derive(Debug, Clone)]
pub struct Scale {
    from: f64,
    to: f64,
    is_log: bool,
    /// Values of the marks.
    pub marks: Vec<f64>,
}

/// What values are divided by, and the unit that is left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    pub by: f64,
    pub unit: &'static str,
}

impl Scale {
    /// From 0 to a round number above `most`, about `marks` marks.
    pub fn from_zero(most: f64, marks: usize) -> Scale {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let step = round_step(most / marks.max(1) as f64);
        let count = (most / step - 1e-9).ceil().max(1.0);
        let marks = (0..=count as usize).map(|k| k as f64 * step).collect();
        Scale { from: 0.0, to: count * step, is_log: false, marks }
    }

    /// Exactly `from` to `to`, marks at round numbers.
    pub fn between(from: f64, to: f64, marks: usize) -> Scale {
        let to = if to > from { to } else { from + 1.0 };
        let step = round_step((to - from) / marks.max(1) as f64);
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        Scale { from, to, is_log: false, marks: (first..=last).map(|k| k as f64 * step).collect() }
    }

    /// Powers of ten, with marks at the levels themselves: they were chosen, and nothing lies between them.
    pub fn levels(levels: &[f64]) -> Scale {
        let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let most = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_log = least > 0.0 && most / least >= 20.0;
        if is_log {
            let margin = (most / least).powf(0.03);
            let (from, to) = (least / margin, most * margin);
            let mut marks: Vec<f64> = Vec::new();
            for level in levels {
                // Marks that would run into each other are left out; the points stay.
                let apart = |other: &f64| (level / other).ln().abs() > (to / from).ln() / 14.0;
                if marks.iter().all(apart) {
                    marks.push(*level);
                }
            }
            return Scale { from, to, is_log, marks };
        }
        let margin = 0.03 * (most - least);
        let from = if least >= 0.0 && least < 0.4 * most { 0.0 } else { least - margin };
        Scale::between(from, most + margin, 8)
    }

    /// 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.is_log {
            true => (value.max(f64::MIN_POSITIVE) / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    pub fn is_log(&self) -> bool {
        self.is_log
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|s| *s >= step * (1.0 - 1e-9)).unwrap_or(step)
}

/// Nanoseconds in the unit of the highest.
pub fn times(most_ns: f64) -> Shown {
    match most_ns {
        n if n >= 2e9 => Shown { by: 1e9, unit: "s" },
        n if n >= 2e6 => Shown { by: 1e6, unit: "ms" },
        n if n >= 2e3 => Shown { by: 1e3, unit: "us" },
        _ => Shown { by: 1.0, unit: "ns" },
    }
}

/// Bytes in the unit of the highest, decimal as everywhere.
pub fn bytes(most: f64) -> Shown {
    match most {
        n if n >= 2e9 => Shown { by: 1e9, unit: "GB" },
        n if n >= 2e6 => Shown { by: 1e6, unit: "MB" },
        n if n >= 2e3 => Shown { by: 1e3, unit: "kB" },
        _ => Shown { by: 1.0, unit: "B" },
    }
}

/// The text of a mark.
pub fn mark(value: f64) -> String {
    // 0.30000000000000004 is how a third step of 0.1 adds up.
    trimmed_value((value * 1e9).round() / 1e9)
}
