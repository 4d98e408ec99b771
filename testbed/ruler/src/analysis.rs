//! Exact statistics of the log: sorted values instead of a histogram, because tests compare histograms with them.

/// Returns the q-quantile of sorted values by the nearest-rank rule: the smallest value that at least the share `q`
/// of all values does not exceed. None without values.
pub fn quantile<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

/// Deviation of a sequence of arrivals from an even grid. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Gaps between consecutive arrivals, ascending.
    pub gaps_ns: Vec<u64>,
    /// Absolute distances from the grid, ascending.
    pub off_ns: Vec<u64>,
}

/// Compares `arrivals_ns` (in any order) with a grid of `rate_per_s`.
///
/// The i-th arrival deviates by d_i = t_i - (t_0 + i / rate). The grid fits best if the median of the deviations is
/// zero, so `off_ns` contains |d_i - median(d)|. A lost arrival shifts all later ones by a whole step. This is
/// intended, because an open model must not lose any.
pub fn grid(arrivals_ns: &[u64], rate_per_s: f64) -> Grid {
    let mut sorted = arrivals_ns.to_vec();
    sorted.sort_unstable();
    let mut gaps_ns: Vec<u64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps_ns.sort_unstable();
    let first_ns = sorted.first().copied().unwrap_or(0);
    let step_ns = 1e9 / rate_per_s;
    let mut deviations: Vec<i64> = (sorted.iter().enumerate())
        .map(|(index, &at_ns)| (at_ns - first_ns) as i64 - (index as f64 * step_ns).round() as i64)
        .collect();
    deviations.sort_unstable();
    let median = quantile(&deviations, 0.5).unwrap_or(0);
    let mut off_ns: Vec<u64> = deviations.iter().map(|deviation| deviation.abs_diff(median)).collect();
    off_ns.sort_unstable();
    Grid { gaps_ns, off_ns }
}
