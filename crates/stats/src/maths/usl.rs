//! The universal scalability law, fitted: how throughput follows the number of users, and whether it has a summit.
//!
//! X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)) (Gunther, A Simple Capacity Model of Massively Parallel
//! Transaction Systems, 1993; Guerrilla Capacity Planning, 2007). sigma is the share of the work that is done one at a
//! time (contention), kappa the cost of each pair that has to agree (coherency). Only kappa > 0 makes a summit, at
//! N* = sqrt((1 - sigma) / kappa).

use crate::random::SplitMix64;

/// Fewer distinct levels leave no residual to judge three parameters by.
pub const FEWEST_LEVELS: usize = 6;
/// Beyond this many times the largest level a prediction is marked as extrapolated.
pub const FAR: f64 = 1.5;
/// Root mean square residual, as a share of the mean throughput, above which the points are called noise.
pub const NOISE: f64 = 0.10;
/// Above this residual, signs that come in few long runs show that the law has another shape than the data.
pub const PATTERN: f64 = 0.03;

const RESAMPLES: usize = 400;
const STEPS: usize = 200;

/// A fitted law with its 95 % bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Usl {
    /// Throughput of one user, in the unit of the points.
    pub lambda: f64,
    pub sigma: f64,
    pub kappa: f64,
    /// Share of the variance that the law explains.
    pub r2: f64,
    /// Root mean square residual as a share of the mean throughput.
    pub residual_ratio: f64,
    /// Percentile bands of the residual bootstrap, low and high.
    pub lambda_band: [f64; 2],
    pub sigma_band: [f64; 2],
    pub kappa_band: [f64; 2],
    /// `None`: the data do not show that throughput ever falls.
    pub peak: Option<Peak>,
    /// The largest level that was measured.
    pub largest: f64,
}

/// Where throughput is highest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    pub n: f64,
    /// 95 % band of `n`.
    pub n_band: [f64; 2],
    /// Throughput there.
    pub x: f64,
    /// Further out than [`FAR`] times the largest level.
    pub is_extrapolated: bool,
}

/// Why no law is claimed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unfit {
    /// Distinct levels above 0.
    TooFewLevels { levels: usize },
    /// A level or a throughput is negative or no finite number, or all throughputs are 0.
    NotMeasured,
    /// The residuals lie on one side for long stretches: another law rules.
    Pattern { residual_ratio: f64 },
    /// The points scatter too much.
    Noise { residual_ratio: f64 },
}

impl Usl {
    /// Throughput at `n` users.
    pub fn at(&self, n: f64) -> f64 {
        law(&[self.lambda, self.sigma, self.kappa], n)
    }
}

/// Fits the law to `(users, throughput)`; repeats of a level are points of their own. `seed` draws the resamples.
///
/// # Errors
/// Why the law does not fit, see [`Unfit`].
pub fn fit(points: &[(f64, f64)], seed: u64) -> Result<Usl, Unfit> {
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
    // Both axes near 1 keep the squares finite for any input.
    let scale = sorted.iter().map(|p| p.1).fold(0.0, f64::max);
    let scaled: Vec<(f64, f64)> = sorted.iter().map(|(n, x)| (*n, x / scale)).collect();
    let best = solve(&scaled, None);
    let mean = scaled.iter().map(|p| p.1).sum::<f64>() / scaled.len() as f64;
    let residuals: Vec<f64> = scaled.iter().map(|(n, x)| x - law(&best, *n)).collect();
    let square: f64 = residuals.iter().map(|r| r * r).sum();
    let total: f64 = scaled.iter().map(|(_, x)| (x - mean).powi(2)).sum();
    let residual_ratio = (square / scaled.len() as f64).sqrt() / mean;
    if !residual_ratio.is_finite() || residual_ratio > NOISE {
        return Err(Unfit::Noise { residual_ratio });
    }
    if residual_ratio > PATTERN && sign_runs(&scaled, &best) <= 3 {
        return Err(Unfit::Pattern { residual_ratio });
    }
    let largest = sorted.last().map_or(0.0, |p| p.0);
    let (bands, peak) = bands(&scaled, &best, &residuals, seed);
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
    })
}

fn law(p: &[f64; 3], n: f64) -> f64 {
    p[0] * n / (1.0 + p[1] * (n - 1.0) + p[2] * n * (n - 1.0))
}

fn summit(p: &[f64; 3]) -> f64 {
    ((1.0 - p[1]).max(0.0) / p[2]).sqrt().max(1.0)
}

/// How often the mean residual of a level changes its sign, plus one.
fn sign_runs(sorted: &[(f64, f64)], p: &[f64; 3]) -> usize {
    let means: Vec<f64> = sorted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|level| level.iter().map(|(n, x)| x - law(p, *n)).sum::<f64>())
        .collect();
    1 + means.windows(2).filter(|w| (w[0] > 0.0) != (w[1] > 0.0)).count()
}

/// Least squares with sigma in 0..=1, kappa >= 0, lambda > 0: Levenberg and Marquardt's steps, projected on the bounds.
/// From several starts, because the valley of sigma against kappa is long; from one when it is known to be near.
fn solve(points: &[(f64, f64)], near: Option<[f64; 3]>) -> [f64; 3] {
    let (first, last) = (points[0], points[points.len() - 1]);
    let slope = (first.1 / first.0).max(last.1 / last.0).max(f64::MIN_POSITIVE);
    let starts: Vec<[f64; 3]> = match near {
        Some(start) => vec![start],
        None => [(0.0, 0.0), (0.02, 0.0), (0.1, 1e-3), (0.3, 0.0), (0.02, 1.0 / (last.0 * last.0))]
            .map(|(sigma, kappa)| [slope, sigma, kappa])
            .to_vec(),
    };
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
        let (mut normal, mut downhill) = ([[0.0; 3]; 3], [0.0; 3]);
        for &(n, x) in points {
            let below = 1.0 + p[1] * (n - 1.0) + p[2] * n * (n - 1.0);
            let value = p[0] * n / below;
            let slope = [n / below, -value * (n - 1.0) / below, -value * n * (n - 1.0) / below];
            for i in 0..3 {
                downhill[i] += slope[i] * (x - value);
                (0..3).for_each(|j| normal[i][j] += slope[i] * slope[j]);
            }
        }
        // A parameter that stands on its bound and is pushed outwards takes no part in the step.
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

/// Solves (A + damping diag A) s = b over the parameters that are not held; Gauss with pivots.
fn damped(a: &[[f64; 3]; 3], b: &[f64; 3], held: &[bool; 3], damping: f64) -> Option<[f64; 3]> {
    let mut m = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = if held[i] || held[j] { 0.0 } else { a[i][j] };
        }
        m[i][i] = if held[i] { 1.0 } else { a[i][i] * (1.0 + damping) };
        m[i][3] = if held[i] { 0.0 } else { b[i] };
        // Columns differ by many powers of ten (kappa against lambda): each row by its own diagonal.
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

/// Residual bootstrap (Efron & Tibshirani 1993, section 9.4). Residuals of a fit with three parameters are too small
/// by sqrt((m - 3) / m), and few of them know their own spread badly: they are widened by Student's t over the normal
/// deviate too. The second answer is the band of N*, if fewer than 2.5 % of the resamples have no summit.
fn bands(
    points: &[(f64, f64)],
    p: &[f64; 3],
    residuals: &[f64],
    seed: u64,
) -> ([[f64; 2]; 3], Option<[f64; 2]>) {
    let m = residuals.len() as f64;
    let free = (m - 3.0).max(1.0);
    let centre = residuals.iter().sum::<f64>() / m;
    let widen = (m / free).sqrt() * student_975(free) / 1.96;
    let mut random = SplitMix64::new(seed);
    let mut drawn: Vec<[f64; 3]> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut draw = || residuals[(random.next_u64() % residuals.len() as u64) as usize];
        let again: Vec<(f64, f64)> =
            points.iter().map(|(n, _)| (*n, (law(p, *n) + (draw() - centre) * widen).max(0.0))).collect();
        drawn.push(solve(&again, Some([p[0], p[1].max(1e-3), p[2].max(1e-6)])));
    }
    let band = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let at = |q: f64| values[((q * (values.len() - 1) as f64).round()) as usize];
        [at(0.025), at(0.975)]
    };
    let of = |i: usize| band(&mut drawn.iter().map(|d| d[i]).collect());
    let all = [of(0), of(1), of(2)];
    // A kappa this small moves nothing within the measured levels: it is the bound, up to rounding.
    let largest = points[points.len() - 1].0;
    let has_summit = |q: &[f64; 3]| q[2] * largest * largest > 1e-3;
    let without = drawn.iter().filter(|d| !has_summit(d)).count();
    let claimed = has_summit(p) && (without as f64) < 0.025 * RESAMPLES as f64;
    let peaks = || drawn.iter().filter(|d| has_summit(d)).map(summit).collect::<Vec<f64>>();
    (all, claimed.then(|| band(&mut peaks())))
}

/// The 97.5 % point of Student's t: the expansion of Abramowitz & Stegun 26.7.5, within 2 % from three degrees of
/// freedom on.
pub fn student_975(free: f64) -> f64 {
    let (z, v) = (1.959_964_f64, free.max(1.0));
    if v < 1.5 {
        return 12.706;
    }
    if v < 2.5 {
        return 4.303;
    }
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + g1 / v + g2 / (v * v) + g3 / v.powi(3)
}
