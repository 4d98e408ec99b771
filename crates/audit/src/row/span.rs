//! Interval arithmetic over what rounding leaves open: a rule may only speak when no number that rounds to what is
//! written would make it silent (Moore, Interval Analysis, 1966, chapter 2; all operands here are >= 0).

use crate::foreign::Figure;

/// Every value that a figure may have. Both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub low: f64,
    pub high: f64,
    /// As written, or as it follows from what is written: what the arithmetic shows, so that it can be done by hand.
    pub said: f64,
}

impl Span {
    /// The range of a figure, or none where it makes no sense: other people's files hold NaN and turned ranges.
    pub fn of(figure: &Figure) -> Option<Span> {
        let Figure { value, low, high, .. } = *figure;
        (value.is_finite() && low.is_finite() && high.is_finite() && low <= value && value <= high)
            .then_some(Span { low, high, said: value })
    }

    /// What the written digits alone leave open. A range may also hold the error of a clock, which the figures of one
    /// set of recorded times share: among themselves, they differ by one unit of their last digit at most.
    pub fn of_digits(figure: &Figure) -> Option<Span> {
        let whole = Self::of(figure)?;
        let end =
            figure.written.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(figure.written.len());
        let text = &figure.written[..end];
        let Some(number) = text.parse::<f64>().ok().filter(|number| *number > 0.0) else {
            return Some(whole);
        };
        let decimals = text.split_once('.').map_or(0, |(_, part)| part.len());
        let one = 10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX)) * figure.value / number;
        let one = one.max(1e-9 * figure.value);
        let (below, above) = (figure.value - whole.low, whole.high - figure.value);
        let centered = (below - above).abs() <= 1e-6 * (below + above);
        let narrower = one.is_finite() && centered && one < below;
        Some(if narrower {
            Span { low: figure.value - one, high: figure.value + one, ..whole }
        } else {
            whole
        })
    }

    pub fn exact(value: f64) -> Span {
        Span { low: value, high: value, said: value }
    }

    /// Anything between two numbers.
    pub fn between(low: f64, high: f64) -> Span {
        Span { low, high, said: f64::midpoint(low, high) }
    }

    /// Nothing below 0: a time that was rounded to 0 is not negative.
    pub fn at_least_zero(self) -> Span {
        Span { low: self.low.max(0.0), high: self.high.max(0.0), said: self.said.max(0.0) }
    }

    pub fn times(self, other: Span) -> Span {
        Span { low: self.low * other.low, high: self.high * other.high, said: self.said * other.said }
    }

    /// None where the divisor may be 0 altogether; an end that would be infinite stays infinite.
    pub fn over(self, other: Span) -> Option<Span> {
        (other.high > 0.0).then(|| Span {
            low: self.low / other.high,
            high: if other.low > 0.0 { self.high / other.low } else { f64::INFINITY },
            said: if other.said > 0.0 { self.said / other.said } else { f64::INFINITY },
        })
    }

    pub fn plus(self, other: Span) -> Span {
        Span { low: self.low + other.low, high: self.high + other.high, said: self.said + other.said }
    }

    /// Never below 0: counts that are left over.
    pub fn minus(self, other: Span) -> Span {
        Span {
            low: (self.low - other.high).max(0.0),
            high: (self.high - other.low).max(0.0),
            said: (self.said - other.said).max(0.0),
        }
    }

    /// Both ends moved outwards by a share of themselves: what differs for reasons that no figure shows.
    pub fn widened(self, share: f64) -> Span {
        Span { low: self.low * (1.0 - share), high: self.high * (1.0 + share), said: self.said }
    }

    /// Whether both can be the same number. Sums of rounded parts carry the error of binary fractions.
    pub fn meets(self, other: Span) -> bool {
        let grain = 1e-9 * self.high.abs().max(other.high.abs());
        self.low <= other.high + grain && other.low <= self.high + grain
    }

    /// Certainly more than the other.
    pub fn above(self, other: Span) -> bool {
        self.low > other.high + 1e-9 * other.high.abs()
    }
}
