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
    /// Percentile bands of the wild bootstrap, low and high.
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
    if residual_ratio > PATTERN && has_pattern(&scaled, &best) {
        return Err(Unfit::Pattern { residual_ratio });
    }
    if !residual_ratio.is_finite() || residual_ratio > NOISE {
        return Err(Unfit::Noise { residual_ratio });
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

/// Whether the signs of the levels' residuals come in too few runs (Wald & Wolfowitz 1940, normal approximation at
/// 2.5 %); three runs are a bow whatever the number of levels.
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
        let (normal, downhill) = normal_equations(points, &p);
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

/// How the law at `n` answers to each parameter.
fn slopes(p: &[f64; 3], n: f64) -> [f64; 3] {
    let below = 1.0 + p[1] * (n - 1.0) + p[2] * n * (n - 1.0);
    let value = p[0] * n / below;
    [n / below, -value * (n - 1.0) / below, -value * n * (n - 1.0) / below]
}

/// J'J and J'r.
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

/// Wild bootstrap (Wu 1986; Liu 1988): each point keeps its own residual and only draws its sign, because rates scatter
/// more where they are higher. A residual is divided by the root of one minus its leverage (HC2; MacKinnon & White
/// 1985), since the fit bends towards the outermost points, and widened by Student's t over the normal deviate for the
/// few that there are. The second answer is the band of N*, if fewer than 2.5 % of the resamples have no summit.
fn bands(
    points: &[(f64, f64)],
    p: &[f64; 3],
    residuals: &[f64],
    seed: u64,
) -> ([[f64; 2]; 3], Option<[f64; 2]>) {
    let free = (residuals.len() as f64 - 3.0).max(1.0);
    let widen = student_975(free) / 1.96;
    let (normal, _) = normal_equations(points, p);
    // A parameter on its bound bends nothing.
    let held = [false, p[1] <= 0.0, p[2] <= 0.0];
    let spread: Vec<f64> = points
        .iter()
        .zip(residuals)
        .map(|((n, _), residual)| {
            let slope = slopes(p, *n);
            let solved = damped(&normal, &slope, &held, 0.0);
            let leverage = solved.map_or(0.0, |s| (0..3).map(|i| s[i] * slope[i]).sum::<f64>());
            residual / (1.0 - leverage.clamp(0.0, 0.9)).sqrt() * widen
        })
        .collect();
    let mut random = SplitMix64::new(seed);
    let mut drawn: Vec<[f64; 3]> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut sign = || if random.next_u64() >> 63 == 0 { 1.0 } else { -1.0 };
        let again: Vec<(f64, f64)> =
            points.iter().zip(&spread).map(|((n, _), r)| (*n, (law(p, *n) + sign() * r).max(0.0))).collect();
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
