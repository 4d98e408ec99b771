//! Straight lines and monotone curves through noisy points: where a metric crosses its limit, and how well that is
//! known.

use super::student::quantile;

/// A point with its weight: 1 / variance, up to a common factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub weight: f64,
}

/// A line through the mean of its points, by weighted least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub slope: f64,
    pub mean_x: f64,
    pub mean_y: f64,
    /// Deviation of a point of weight 1 from the line; weights are scaled to a mean of 1.
    pub residual: f64,
    /// Points with a positive weight.
    pub points: usize,
    /// Sum of their weights.
    total: f64,
    /// Weighted sum of squares of x around its mean.
    sxx: f64,
}

/// An abscissa with its interval; a side that the points do not bound is infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    pub at: f64,
    pub low: f64,
    pub high: f64,
}

/// Fits a line. Returns `None` if fewer than three points have weight, all have the same x, or a number is not finite.
pub fn fit_line(points: &[Point]) -> Option<Line> {
    let used: Vec<&Point> = points.iter().filter(|p| p.weight > 0.0).collect();
    let sane = |p: &&Point| p.x.is_finite() && p.y.is_finite() && p.weight.is_finite();
    if used.len() < 3 || !used.iter().all(sane) {
        return None;
    }
    let n = used.len() as f64;
    let total: f64 = used.iter().map(|p| p.weight).sum();
    let weight = |p: &Point| p.weight * n / total;
    let mean_x = used.iter().map(|p| weight(p) * p.x).sum::<f64>() / n;
    let mean_y = used.iter().map(|p| weight(p) * p.y).sum::<f64>() / n;
    let sxx: f64 = used.iter().map(|p| weight(p) * (p.x - mean_x).powi(2)).sum();
    let sxy: f64 = used.iter().map(|p| weight(p) * (p.x - mean_x) * (p.y - mean_y)).sum();
    // Below the rounding error of the means, there is no spread in x.
    if !sxx.is_finite() || sxx <= n * (mean_x.abs() * 1e-14).powi(2) || sxx == 0.0 {
        return None;
    }
    let slope = sxy / sxx;
    let error = |p: &Point| p.y - mean_y - slope * (p.x - mean_x);
    let squares: f64 = used.iter().map(|p| weight(p) * error(p).powi(2)).sum();
    let residual = (squares / (n - 2.0)).max(0.0).sqrt();
    let line = Line { slope, mean_x, mean_y, residual, points: used.len(), total: n, sxx };
    (slope.is_finite() && residual.is_finite()).then_some(line)
}

/// The part of a number of events that was beyond a limit, at one x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub x: f64,
    pub part: f64,
    pub whole: f64,
}

/// Fits ln(part / whole) = a + b x by quasi-Poisson likelihood (McCullagh & Nelder, Generalized Linear Models, 2nd ed.,
/// section 6.2): counts are unbiased, unlike the logarithm of a small fraction or a quantile of a short sample. Bursts
/// of events deviate more than Poisson counts; Pearson's statistic measures by how much, and `residual` is its root (at
/// least 1).
///
/// Returns `None` if fewer than three points have counts (`whole` above 0; a point without events beyond the limit is
/// informative, too), if none of them has an event, if all have the same x, if a number is invalid, or if all events
/// are at one end, so that no finite slope is best.
pub fn fit_shares(points: &[Share]) -> Option<Line> {
    let sane = |p: &&Share| p.x.is_finite() && p.part >= 0.0 && p.whole >= p.part && p.whole.is_finite();
    let used: Vec<&Share> = points.iter().filter(|p| p.whole > 0.0).collect();
    let (parts, wholes) = used.iter().fold((0.0, 0.0), |(k, n), p| (k + p.part, n + p.whole));
    if used.len() < 3 || !used.iter().all(sane) || parts <= 0.0 {
        return None;
    }
    let (mut slope, mut mean_y): (f64, f64) = (0.0, (parts / wholes).ln());
    let mut mean_x = used.iter().map(|p| p.whole * p.x).sum::<f64>() / wholes;
    for _ in 0..60 {
        // Centered again at the weighted mean, where level and slope are independent of each other.
        let expected = |p: &Share| p.whole * (mean_y + slope * (p.x - mean_x)).clamp(-60.0, 3.0).exp();
        let total: f64 = used.iter().map(|p| expected(p)).sum();
        let center = used.iter().map(|p| expected(p) * p.x).sum::<f64>() / total;
        let sxx: f64 = used.iter().map(|p| expected(p) * (p.x - center).powi(2)).sum();
        if !(total > 0.0 && sxx > 1e-12 * total * (1e-3 + center.abs()).powi(2)) {
            return None;
        }
        let off = |p: &Share| p.part - expected(p);
        let up = used.iter().map(|p| off(p)).sum::<f64>() / total;
        let turn = used.iter().map(|p| off(p) * (p.x - center)).sum::<f64>() / sxx;
        // Far from the solution, Newton's step overshoots: limit the change of the level to one, and that of a point to
        // two.
        let reach = used.iter().map(|p| (p.x - center).abs()).fold(0.0, f64::max);
        let scale = (1.0 / up.abs()).min(2.0 / (turn.abs() * reach).max(1e-300)).min(1.0);
        if up.abs() < 1e-9 && turn.abs() * reach < 1e-9 {
            let pearson: f64 = used.iter().map(|p| off(p).powi(2) / expected(p)).sum();
            let residual = (pearson / (used.len() as f64 - 2.0)).max(1.0).sqrt();
            let mean_y = mean_y + slope * (center - mean_x);
            return Some(Line { slope, mean_x: center, mean_y, residual, points: used.len(), total, sxx });
        }
        mean_y += slope * (center - mean_x) + scale * up;
        mean_x = center;
        slope += scale * turn;
    }
    None
}

impl Line {
    pub fn at(&self, x: f64) -> f64 {
        self.mean_y + self.slope * (x - self.mean_x)
    }

    /// Returns where the line reaches `y` if the points were placed around that x by design. The interval is that of
    /// the delta method: Fieller's without the uncertainty of the slope. With points on both sides, the slope hardly
    /// matters, and the line is known not to be flat; otherwise, this interval is too narrow, and [`Line::root`] is
    /// correct. Returns `None` for a flat line.
    pub fn root_within(&self, y: f64, confidence: f64, residual: f64) -> Option<Root> {
        let at = self.mean_x + (y - self.mean_y) / self.slope;
        let s = residual.max(self.residual);
        let t = student(self.points.saturating_sub(2), confidence)?;
        let off = at - self.mean_x;
        let spread = t * s / self.slope.abs() * (1.0 / self.total + off * off / self.sxx).sqrt();
        (at.is_finite() && spread.is_finite()).then_some(Root { at, low: at - spread, high: at + spread })
    }

    /// Returns where the line reaches `y`, with the interval that contains it with `confidence`: Fieller's theorem
    /// (Fieller 1954; Draper & Smith, Applied Regression Analysis, 3rd ed., section 3.2, inverse regression to a true
    /// mean). `residual` replaces that of the points if it is larger. Returns `None` for a flat line.
    ///
    /// The quotient of two estimates has no symmetric interval: if the slope itself may be zero, neither side is
    /// bounded, and the formula must report that.
    pub fn root(&self, y: f64, confidence: f64, residual: f64) -> Option<Root> {
        let at = self.mean_x + (y - self.mean_y) / self.slope;
        if !at.is_finite() {
            return None;
        }
        let s = residual.max(self.residual);
        let t = student(self.points.saturating_sub(2), confidence)?;
        let g = (t * s / self.slope).powi(2) / self.sxx;
        if g.is_nan() || g >= 1.0 {
            return Some(Root { at, low: f64::NEG_INFINITY, high: f64::INFINITY });
        }
        let off = at - self.mean_x;
        let spread = t * s / self.slope.abs() * ((1.0 - g) / self.total + off * off / self.sxx).sqrt();
        let side = |sign: f64| self.mean_x + (off + sign * spread) / (1.0 - g);
        Some(Root { at, low: side(-1.0), high: side(1.0) })
    }
}

/// Returns the t that encloses `confidence` on both sides of zero; `None` without a degree of freedom.
fn student(freedom: usize, confidence: f64) -> Option<f64> {
    let is_open = confidence > 0.0 && confidence < 1.0;
    (freedom > 0 && is_open).then(|| quantile(f64::midpoint(1.0, confidence), freedom as f64))
}

/// Returns the falling curve nearest to `values` (with weights): adjacent values that rise are pooled until none do
/// (Ayer et al. 1955, pool adjacent violators). Same length as `values`; a weight of 0 takes an adjacent value.
pub fn falling(values: &[(f64, f64)]) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(values.len());
    for (value, weight) in values {
        pools.push((*value, weight.max(0.0), 1));
        while let [.., (a, wa, na), (b, wb, nb)] = pools[..]
            && a < b
        {
            let weight = wa + wb;
            let mean = if weight > 0.0 { (a * wa + b * wb) / weight } else { f64::midpoint(a, b) };
            pools.truncate(pools.len() - 2);
            pools.push((mean, weight, na + nb));
        }
    }
    pools.into_iter().flat_map(|(value, _, n)| std::iter::repeat_n(value, n)).collect()
}
