//! Student's t distribution: intervals for means of few values.
//!
//! With two to ten runs, the deviation itself is uncertain; the normal distribution would make intervals of three runs
//! half as wide as they must be.

use super::inverse_normal;
use std::f64::consts::PI;

/// Returns the standard normal distribution function, P(Z <= `x`); NaN for NaN.
///
/// Abramowitz & Stegun 26.2.11 (a series of positive terms) near the middle, 26.2.14 (a continued fraction) in the
/// tails, where a difference from 1 would lose all digits.
pub fn normal_cdf(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    if x.abs() < 2.5 {
        let (mut term, mut sum, mut k) = (x, x, 3.0);
        while term.abs() > f64::EPSILON * sum.abs() && k < 400.0 {
            term *= x * x / k;
            sum += term;
            k += 2.0;
        }
        return 0.5 + density * sum;
    }
    // From the inside out; 60 levels are far more than 2.5 deviations need.
    let fraction = (1..=60).rev().fold(x.abs(), |inner, k| x.abs() + f64::from(k) / inner);
    let tail = density / fraction;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// Returns P(T <= `t`) with `df` degrees of freedom, any positive number (Welch's are not whole numbers). Infinite
/// degrees give the normal distribution; NaN if `df` is not positive.
pub fn cdf(t: f64, df: f64) -> f64 {
    let outside = two_sided(t, df) / 2.0;
    if t > 0.0 { 1.0 - outside } else { outside }
}

/// Returns P(|T| >= |t|), accurate even for the smallest values: the p-value of a two-sided test.
pub fn two_sided(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return 0.0;
    }
    // Beyond this, the two agree to seven digits, while the difference of the gamma functions loses more and more
    // digits.
    if df > 1e7 {
        return 2.0 * normal_cdf(-t.abs());
    }
    // Abramowitz & Stegun 26.7.1 with 26.5.27: I_x(df/2, 1/2), x = df / (df + t^2).
    let square = t * t;
    incomplete_beta(df / (df + square), square / (df + square), df / 2.0, 0.5)
}

/// Returns the t with P(T <= t) = `p`. NaN outside 0..=1 and if `df` is not positive.
///
/// Uses bisection: it is monotone and cannot fail, and sixty steps cost nothing compared with a run.
pub fn quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if p == 0.5 || p == 0.0 || p == 1.0 || df > 1e7 {
        return inverse_normal(p);
    }
    let outside = 2.0 * p.min(1.0 - p);
    // Student's tails are heavier, so the normal quantile is a lower bound.
    let mut low = 0.0;
    let mut high = inverse_normal(1.0 - outside / 2.0).clamp(1.0, 40.0);
    while two_sided(high, df) > outside && high < 1e300 {
        low = high;
        high *= 4.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if two_sided(middle, df) > outside { low = middle } else { high = middle }
    }
    if p < 0.5 { -high } else { high }
}

/// A mean, the square of its standard error, and its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    pub variance: f64,
    pub df: f64,
}

impl Estimate {
    /// Estimates the mean of independent values; `None` for fewer than two or if a value is not finite.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let n = values.len() as f64;
        if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Some(Estimate { mean, variance: squares / (n - 1.0) / n, df: n - 1.0 })
    }

    /// Returns `self` - `other`, both independent: Welch, Biometrika 34, 1947; degrees of freedom by Satterthwaite,
    /// Biometrics Bulletin 2, 1946.
    pub fn minus(self, other: Estimate) -> Estimate {
        let (v, w) = (self.variance, other.variance);
        let parts = v * v / self.df + w * w / other.df;
        let df = if parts > 0.0 { (v + w) * (v + w) / parts } else { self.df + other.df };
        Estimate { mean: self.mean - other.mean, variance: v + w, df }
    }

    /// Returns half the width of the interval that contains the true value with `confidence`.
    pub fn half_width(self, confidence: f64) -> f64 {
        quantile(0.5 + confidence / 2.0, self.df) * self.variance.sqrt()
    }

    /// Returns the two-sided p-value of "the true value is 0". Without any spread, both a difference and equality are
    /// certain.
    pub fn p(self) -> f64 {
        match (self.mean, self.variance) {
            (0.0, 0.0) => 1.0,
            (mean, variance) => two_sided(mean / variance.sqrt(), self.df),
        }
    }
}

/// Returns ln of the gamma function for positive `x`, by Stirling's series (Abramowitz & Stegun 6.1.40) above 15 and
/// the recurrence below: absolute error about 1e-15.
fn ln_gamma(x: f64) -> f64 {
    let (mut shift, mut x) = (0.0, x);
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = 1.0 / 12.0
        - inverse
            * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse * (1.0 / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series / x - shift
}

/// Returns the regularized incomplete beta function I_x(a, b); `y` = 1 - x is a separate argument, because the
/// difference would lose the digits of a small one. Abramowitz & Stegun 26.5.8 (continued fraction), evaluated by
/// Lentz's method.
fn incomplete_beta(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    // The fraction converges quickly only on this side; the other is 1 minus the mirrored one.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(y, x, b, a);
    }
    let front = (a * x.ln() + b * y.ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // About sqrt(max(a, b)) rounds are needed; 1e7 degrees of freedom are the most that get here.
    for m in 1..20_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / away(1.0 + numerator * d);
            c = away(1.0 + numerator / c);
            step = c * d;
            fraction *= step;
        }
        if (step - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}
