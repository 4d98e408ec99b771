//! Fits the universal scalability law: how throughput depends on the number of users, and whether it has a peak.
//!
//! X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)) (Gunther, A Simple Capacity Model of Massively Parallel
//! Transaction Systems, 1993; Guerrilla Capacity Planning, 2007). sigma is the fraction of the work that is serial
//! (contention), kappa the cost of each pair that must agree (coherency). Only kappa > 0 gives a peak, at N* = sqrt((1
//! - sigma) / kappa).

use super::student::quantile;

/// Fewer distinct levels leave no residual to check three parameters.
pub const FEWEST_LEVELS: usize = 6;
/// Beyond this multiple of the largest level, a prediction is marked as extrapolated.
pub const FAR: f64 = 1.5;
/// Root mean square residual, as a fraction of the mean throughput, above which the points count as noise.
pub const NOISE: f64 = 0.10;
/// Above this residual, signs in a few long runs show that the data do not follow the law.
pub const PATTERN: f64 = 0.03;

const STEPS: usize = 200;

/// A fitted law with its 95% bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Usl {
    /// Throughput of one user, in the unit of the points.
    pub lambda: f64,
    pub sigma: f64,
    pub kappa: f64,
    /// Fraction of the variance that the law explains.
    pub r2: f64,
    /// Root mean square residual as a fraction of the mean throughput.
    pub residual_ratio: f64,
    /// 95% intervals, low and high, within the law's bounds.
    pub lambda_band: [f64; 2],
    pub sigma_band: [f64; 2],
    pub kappa_band: [f64; 2],
    /// `None`: the data do not show that throughput ever falls.
    pub peak: Option<Peak>,
    /// The largest measured level.
    pub largest: f64,
    /// Data for [`Usl::band_at`], with throughput as a fraction of `scale`.
    spread: Spread,
}

#[derive(Debug, Clone, PartialEq)]
struct Spread {
    best: [f64; 3],
    /// Covariances of the parameters, under both models of the scatter.
    covariances: [[[f64; 3]; 3]; 2],
    /// Student's t.
    t: f64,
    scale: f64,
}

/// The peak of the throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    pub n: f64,
    /// 95% band of `n`.
    pub n_band: [f64; 2],
    /// Throughput at the peak.
    pub x: f64,
    /// Farther out than [`FAR`] times the largest level.
    pub is_extrapolated: bool,
}

/// The reason why no law is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unfit {
    /// Too few distinct levels above 0.
    TooFewLevels { levels: usize },
    /// A level or a throughput is negative or not finite, or all throughputs are 0.
    NotMeasured,
    /// The residuals are on one side over long ranges: the data follow another law.
    Pattern { residual_ratio: f64 },
    /// The points scatter too much.
    Noise { residual_ratio: f64 },
    /// The levels do not determine the parameters: for instance, all of them lie far beyond the bend.
    Undetermined,
}

impl Usl {
    /// Returns the throughput at `n` users.
    pub fn at(&self, n: f64) -> f64 {
        law(&[self.lambda, self.sigma, self.kappa], n)
    }

    /// Returns the 95% band of the law at `n` users, not of single points: the slopes of the law at the fit with the
    /// parameters' covariance (Seber & Wild 1989, section 5.1), for the wider of the two models of the scatter.
    pub fn band_at(&self, n: f64) -> [f64; 2] {
        let Spread { best, covariances, t, scale } = &self.spread;
        let slope = slopes(best, n);
        let variance = |v: &[[f64; 3]; 3]| -> f64 {
            (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| slope[i] * v[i][j] * slope[j]).sum()
        };
        let widest = covariances.iter().map(variance).fold(0.0, f64::max);
        let half = t * widest.sqrt() * scale;
        [(self.at(n) - half).max(0.0), self.at(n) + half]
    }
}

/// Fits the law to `(users, throughput)`; repeats of a level are separate points.
///
/// # Errors
/// Returns the reason why the law does not fit, see [`Unfit`].
pub fn fit(points: &[(f64, f64)]) -> Result<Usl, Unfit> {
    if points.iter().any(|(n, x)| !n.is_finite() || !x.is_finite() || *n <= 0.0 || *x < 0.0)
        || points.iter().all(|(_, x)| *x <= 0.0)
    {
        return Err(if points.is_empty() { Unfit::TooFewLevels { levels: 0 } } else { Unfit::NotMeasured });
    }
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let levels = sorted.chunk_by(|a, b| a.0 == b.0).count();
    if levels < FEWEST_LEVELS {
        return Err(Unfit::TooFewLevels { levels });
    }
    // Scaling both axes to about 1 keeps the squares finite for any input.
    let scale = sorted.iter().map(|p| p.1).fold(0.0, f64::max);
    let scaled: Vec<(f64, f64)> = sorted.iter().map(|(n, x)| (*n, x / scale)).collect();
    let best = solve(&scaled);
    let mean = scaled.iter().map(|p| p.1).sum::<f64>() / scaled.len() as f64;
    let residuals: Vec<f64> = scaled.iter().map(|(n, x)| x - law(&best, *n)).collect();
    let square: f64 = residuals.iter().map(|r| r * r).sum();
    let total: f64 = scaled.iter().map(|(_, x)| (x - mean).powi(2)).sum();
    let residual_ratio = (square / scaled.len() as f64).sqrt() / mean;
    if residual_ratio > PATTERN && has_pattern(&scaled, &best) {
        return Err(Unfit::Pattern { residual_ratio });
    }
    if !residual_ratio.is_finite() || residual_ratio > NOISE {
        return Err(Unfit::Noise { residual_ratio });
    }
    let largest = sorted.last().map_or(0.0, |p| p.0);
    let Bands { parameters: bands, peak, covariances, t } =
        bands(&scaled, &best, &residuals).ok_or(Unfit::Undetermined)?;
    let [lambda, sigma, kappa] = best;
    let peak = peak.map(|n_band| {
        let n = summit(&best);
        Peak { n, n_band, x: law(&best, n) * scale, is_extrapolated: n > FAR * largest }
    });
    Ok(Usl {
        lambda: lambda * scale,
        sigma,
        kappa,
        r2: if total > 0.0 { 1.0 - square / total } else { 0.0 },
        residual_ratio,
        lambda_band: bands[0].map(|b| b * scale),
        sigma_band: bands[1],
        kappa_band: bands[2],
        peak,
        largest,
        spread: Spread { best, covariances, t, scale },
    })
}

fn law(p: &[f64; 3], n: f64) -> f64 {
    p[0] * n / (1.0 + p[1] * (n - 1.0) + p[2] * n * (n - 1.0))
}

fn summit(p: &[f64; 3]) -> f64 {
    ((1.0 - p[1]).max(0.0) / p[2]).sqrt().max(1.0)
}

/// Returns whether the signs of the levels' residuals form too few runs (Wald & Wolfowitz 1940, normal approximation at
/// 2.5%); three runs are an arc for any number of levels.
fn has_pattern(sorted: &[(f64, f64)], p: &[f64; 3]) -> bool {
    let means: Vec<f64> = sorted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|level| level.iter().map(|(n, x)| x - law(p, *n)).sum::<f64>())
        .collect();
    let runs = 1 + means.windows(2).filter(|w| (w[0] > 0.0) != (w[1] > 0.0)).count();
    let (n, above) = (means.len() as f64, means.iter().filter(|m| **m > 0.0).count() as f64);
    let mixed = 2.0 * above * (n - above);
    let deviation = (mixed * (mixed - n) / (n * n * (n - 1.0))).max(0.0).sqrt();
    runs <= 3 || (runs as f64) < 1.0 + mixed / n - 1.96 * deviation
}

/// Solves the least squares problem with sigma in 0..=1, kappa >= 0, lambda > 0: Levenberg–Marquardt steps, projected
/// on the bounds. It uses several starts, because the valley of sigma versus kappa is long.
fn solve(points: &[(f64, f64)]) -> [f64; 3] {
    let (first, last) = (points[0], points[points.len() - 1]);
    let slope = (first.1 / first.0).max(last.1 / last.0).max(f64::MIN_POSITIVE);
    let starts = [(0.0, 0.0), (0.02, 0.0), (0.1, 1e-3), (0.3, 0.0), (0.02, 1.0 / (last.0 * last.0))]
        .map(|(sigma, kappa)| [slope, sigma, kappa]);
    let solved = starts.into_iter().map(|start| descend(points, start));
    let best = solved.min_by(|a, b| cost(points, a).total_cmp(&cost(points, b)));
    best.unwrap_or([slope, 0.0, 0.0])
}

fn cost(points: &[(f64, f64)], p: &[f64; 3]) -> f64 {
    points.iter().map(|(n, x)| (x - law(p, *n)).powi(2)).sum()
}

fn descend(points: &[(f64, f64)], mut p: [f64; 3]) -> [f64; 3] {
    let (mut now, mut damping) = (cost(points, &p), 1e-3);
    for _ in 0..STEPS {
        let (normal, downhill) = normal_equations(points, &p);
        // A parameter at its bound that is pushed outwards is left out of the step.
        let held = |i: usize| {
            i > 0 && ((p[i] <= 0.0 && downhill[i] <= 0.0) || (i == 1 && p[1] >= 1.0 && downhill[1] >= 0.0))
        };
        let held = [held(0), held(1), held(2)];
        let Some(step) = damped(&normal, &downhill, &held, damping) else { break };
        let mut next = p;
        (0..3).for_each(|i| next[i] = (p[i] + step[i]).max(0.0));
        next[1] = next[1].min(1.0);
        let then = cost(points, &next);
        if then <= now && next[0] > 0.0 {
            let moved = (0..3).map(|i| (next[i] - p[i]).abs() / p[i].abs().max(1e-12)).fold(0.0, f64::max);
            (p, damping) = (next, (damping / 5.0).max(1e-12));
            let gained = now - then;
            now = then;
            if moved < 1e-10 || (gained <= 1e-15 * now && moved < 1e-6) {
                break;
            }
        } else if damping > 1e12 {
            break;
        } else {
            damping *= 4.0;
        }
    }
    p
}

/// Returns the derivatives of the law at `n` with respect to each parameter.
fn slopes(p: &[f64; 3], n: f64) -> [f64; 3] {
    let below = 1.0 + p[1] * (n - 1.0) + p[2] * n * (n - 1.0);
    let value = p[0] * n / below;
    [n / below, -value * (n - 1.0) / below, -value * n * (n - 1.0) / below]
}

/// Returns J'J and J'r.
fn normal_equations(points: &[(f64, f64)], p: &[f64; 3]) -> ([[f64; 3]; 3], [f64; 3]) {
    let (mut normal, mut downhill) = ([[0.0; 3]; 3], [0.0; 3]);
    for &(n, x) in points {
        let (slope, residual) = (slopes(p, n), x - law(p, n));
        for i in 0..3 {
            downhill[i] += slope[i] * residual;
            (0..3).for_each(|j| normal[i][j] += slope[i] * slope[j]);
        }
    }
    (normal, downhill)
}

/// Solves (A + damping diag A) s = b over the free parameters, by Gaussian elimination with pivoting.
fn damped(a: &[[f64; 3]; 3], b: &[f64; 3], held: &[bool; 3], damping: f64) -> Option<[f64; 3]> {
    let mut m = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = if held[i] || held[j] { 0.0 } else { a[i][j] };
        }
        m[i][i] = if held[i] { 1.0 } else { a[i][i] * (1.0 + damping) };
        m[i][3] = if held[i] { 0.0 } else { b[i] };
        // Columns differ by many powers of ten (kappa versus lambda): each row is scaled by its diagonal.
        let unit = m[i][i];
        if unit.is_nan() || unit <= 0.0 {
            return None;
        }
        m[i].iter_mut().for_each(|v| *v /= unit);
    }
    for i in 0..3 {
        let pivot = (i..3).max_by(|x, y| m[*x][i].abs().total_cmp(&m[*y][i].abs()))?;
        m.swap(i, pivot);
        let head = m[i];
        if head[i] == 0.0 || !head[i].is_finite() {
            return None;
        }
        for row in m.iter_mut().skip(i + 1) {
            let factor = row[i] / head[i];
            (0..4).for_each(|j| row[j] -= factor * head[j]);
        }
    }
    let mut s = [0.0; 3];
    for i in (0..3).rev() {
        let known: f64 = (i + 1..3).map(|j| m[i][j] * s[j]).sum();
        s[i] = (m[i][3] - known) / m[i][i];
    }
    s.iter().all(|v| v.is_finite()).then_some(s)
}

/// Returns 95% intervals of the three parameters and of N*, if the data bound it on both sides. Returns `None` if the
/// levels do not determine the parameters.
///
/// Uses the slopes of the law with Student's t at n - 3 degrees of freedom (Seber & Wild, Nonlinear Regression, 1989,
/// section 5.1). Resampled residuals of six points do not reveal their own tails. Two models of the scatter are tried,
/// and the wider interval is kept: equal at each level, and proportional to the rate.
///
/// A fit at a bound is moved to where it would be without the bound, by one Gauss–Newton step: an interval around the
/// bound itself would keep the other parameters at values that only the bound has caused.
fn bands(points: &[(f64, f64)], p: &[f64; 3], residuals: &[f64]) -> Option<Bands> {
    let (normal, downhill) = normal_equations(points, p);
    if !is_determined(&normal) {
        return None;
    }
    let solve = |b: &[f64; 3]| damped(&normal, b, &[false; 3], 0.0);
    let off = solve(&downhill)?;
    let center: [f64; 3] = std::array::from_fn(|i| p[i] + off[i]);
    // The effect of each point on the parameters: the rows of (J'J)^-1 J'.
    let slope: Vec<[f64; 3]> = points.iter().map(|(n, _)| slopes(p, *n)).collect();
    let pull: Vec<[f64; 3]> = slope.iter().map(&solve).collect::<Option<_>>()?;
    let beyond: Vec<f64> =
        residuals.iter().zip(&slope).map(|(r, s)| r - (0..3).map(|i| s[i] * off[i]).sum::<f64>()).collect();
    let free = (points.len() as f64 - 3.0).max(1.0);
    let t = quantile(0.975, free);
    let level: Vec<f64> = points.iter().map(|_| 1.0).collect();
    let rising: Vec<f64> = points.iter().map(|(n, _)| law(p, *n).max(f64::MIN_POSITIVE)).collect();
    let scatters = [&level, &rising].map(|shape| covariance(shape, &slope, &pull, &beyond));
    if scatters.iter().flatten().flatten().any(|v| !v.is_finite()) {
        return None;
    }
    let band = |i: usize, most: f64| {
        let half = t * scatters[0][i][i].max(scatters[1][i][i]).max(0.0).sqrt();
        [(center[i] - half).clamp(0.0, p[i]), (center[i] + half).min(most).max(p[i])]
    };
    let summits = scatters.map(|v| summit_band(&center, &v, t));
    let wider = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    // A kappa this small has no effect within the measured levels: it is the bound, up to rounding.
    let largest = points[points.len() - 1].0;
    let has_summit = p[2] * largest * largest > 1e-3;
    let peak = match summits {
        [Some(a), Some(b)] if has_summit => Some(wider(wider(a, b), [summit(p); 2])),
        _ => None,
    };
    let parameters = [band(0, f64::INFINITY), band(1, 1.0), band(2, f64::INFINITY)];
    Some(Bands { parameters, peak, covariances: scatters, t })
}

/// Returns whether the slopes have three independent directions: the determinant of their correlations, 1 for right
/// angles. Below this, even exact rates can hardly separate the parameters, and the solution is mostly rounding.
fn is_determined(normal: &[[f64; 3]; 3]) -> bool {
    let r = |i: usize, j: usize| normal[i][j] / normal[i][i].sqrt() / normal[j][j].sqrt();
    let (a, b, c) = (r(0, 1), r(0, 2), r(1, 2));
    1.0 + 2.0 * a * b * c - a * a - b * b - c * c > 1e-11
}

struct Bands {
    parameters: [[f64; 2]; 3],
    peak: Option<[f64; 2]>,
    covariances: [[[f64; 3]; 3]; 2],
    t: f64,
}

/// Returns the parameters' covariance if the points scatter in proportion to `shape`. The factor is computed from the
/// residuals over `shape`: the sum of their squares divided by its expectation under that model, with M = I - H, E
/// r_i^2 = s^2 sum_j M_ij^2 shape_j^2. For a constant shape, that is n - 3.
fn covariance(shape: &[f64], slope: &[[f64; 3]], pull: &[[f64; 3]], residuals: &[f64]) -> [[f64; 3]; 3] {
    let square: f64 = residuals.iter().zip(shape).map(|(r, s)| (r / s).powi(2)).sum();
    let expected = |i: usize| {
        let of = |j: usize| {
            let hat: f64 = (0..3).map(|k| slope[i][k] * pull[j][k]).sum();
            ((f64::from(u8::from(i == j)) - hat) * shape[j]).powi(2)
        };
        (0..shape.len()).map(of).sum::<f64>() / shape[i].powi(2)
    };
    let factor = square / (0..shape.len()).map(expected).sum::<f64>();
    let of = |i: usize, j: usize| pull.iter().zip(shape).map(|(p, s)| p[i] * p[j] * s * s).sum::<f64>();
    std::array::from_fn(|i| std::array::from_fn(|j| factor * of(i, j)))
}

/// Returns the interval of N* = ((1 - sigma) / kappa)^1/2: Fieller's (1954) for the quotient c = kappa / (1 - sigma),
/// whose ends solve (kappa - c (1 - sigma))^2 = t^2 Var(kappa + c sigma). Returns `None` unless both ends are finite,
/// which requires a kappa that is significantly above 0.
fn summit_band(p: &[f64; 3], v: &[[f64; 3]; 3], t: f64) -> Option<[f64; 2]> {
    let (rest, t2) = (1.0 - p[1], t * t);
    let a = rest * rest - t2 * v[1][1];
    let half = p[2] * rest + t2 * v[1][2];
    let c = p[2] * p[2] - t2 * v[2][2];
    if !(a > 0.0 && c > 0.0 && half > 0.0) || p[2] <= 0.0 || rest <= 0.0 {
        return None;
    }
    let root = (half * half - a * c).max(0.0).sqrt();
    // The smaller root as c / larger: the difference would lose its digits.
    let larger = (half + root) / a;
    let smaller = c / (half + root);
    let at = |c: f64| (1.0 / c).sqrt().max(1.0);
    (smaller > 0.0 && larger.is_finite()).then(|| [at(larger), at(smaller)])
}
