//! The timeline of one long run: level changes, trends, and periodic spikes with their recovery.

use super::laws::changes_load;
use super::{Finding, Steady, settings_text, steady_from};
use plimsoll_analysis::digest::{Block, Digest, Level};
use plimsoll_analysis::ratio;
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::phrase::{chosen_s, duration_f64_ns, quantity, rate_per_s, ratio as percent};
use plimsoll_stats::maths::changepoint::{Change, changes, spikes, trend};
use plimsoll_stats::median;
use serde::Serialize;

/// A run with fewer seconds has no timeline.
const FEWEST: usize = 60;
/// Longer series are averaged to this number of values: without level changes, their search takes quadratic time.
const MOST: usize = 3_600;
/// Minimum relative change of a level, or of a trend over the whole run, to be reported.
const WORTH: f64 = 0.20;
/// A trend is reported if chance produces one like it in fewer than one of a thousand runs.
const CHANCE: f64 = 0.001;
/// Spikes are periodic if there are at least this many ...
const AGAIN: usize = 5;
/// ... whose intervals have at most this relative standard deviation.
const REGULAR: f64 = 0.25;
/// Recovered: at most this multiple of the baseline.
const RECOVERED: f64 = 1.5;

/// The timeline of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunCourse {
    pub name: String,
    pub settings: Vec<Setting>,
    pub repeat: u32,
    pub steady_state: Steady,
    /// The load itself changed (ramp, stages), so levels and trends are not searched for.
    pub has_load_changes: bool,
    /// Throughput was below the offered rate: the backlog grows, and times with it.
    pub is_falling_behind: bool,
    pub shifts: Vec<Shift>,
    pub drifts: Vec<Drift>,
    pub periodic: Option<Periodic>,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// `p50`, `throughput`, or `in_flight`.
    pub figure: &'static str,
    /// Seconds from the start of the run.
    pub at_s: f64,
    /// In ns, per second, or requests.
    pub before: f64,
    pub after: f64,
}

/// A trend over the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    pub figure: &'static str,
    /// Per hour, in the unit of the figure, with its 95% confidence interval.
    pub per_hour: f64,
    pub low_per_hour: f64,
    pub high_per_hour: f64,
    /// Change over the run as a share of the median.
    pub change_ratio: f64,
}

/// Spikes of p99 at regular intervals, such as garbage collection pauses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Periodic {
    pub spikes: usize,
    pub every_s: f64,
    pub baseline_ns: f64,
    /// Median of the spikes.
    pub peak_ns: f64,
    /// Median time from the start of a spike to the first second within 1.5 times the baseline.
    pub recovered_after_s: Option<f64>,
}

/// Returns `None` for a run that is too short.
pub(super) fn course(digest: &Digest) -> Option<RunCourse> {
    let blocks = match digest.blocks.split_last() {
        Some((last, rest)) if rest.first().is_some_and(|b| last.length_ns < b.length_ns) => rest,
        _ => &digest.blocks[..],
    };
    if blocks.len() < FEWEST {
        return None;
    }
    let has_load_changes = changes_load(digest);
    let is_falling_behind =
        digest.offered_rate_per_s.is_some_and(|offered| digest.iterations_per_s < 0.98 * offered);
    let mut shifts = Vec::new();
    let mut drifts = Vec::new();
    if !has_load_changes {
        let is_open = matches!(digest.level, Level::Rate(_));
        let mut all: Vec<(&'static str, Reading)> = vec![("p50", p50)];
        // Figures that the load generator sets say nothing about the service: arrivals in the open model, users in
        // the closed.
        all.push(if is_open { ("in_flight", in_flight) } else { ("throughput", rate) });
        for (what, of) in all {
            judge(what, &filled(blocks, of), blocks, &mut shifts, &mut drifts);
        }
    }
    let cell = digest.cell.as_ref();
    Some(RunCourse {
        name: digest.name.clone(),
        settings: cell.map(|c| c.settings.clone()).unwrap_or_default(),
        repeat: cell.map_or(0, |c| c.repeat),
        steady_state: steady_from(digest),
        has_load_changes,
        is_falling_behind,
        shifts,
        drifts,
        periodic: periodic(blocks),
    })
}

type Reading = fn(&Block) -> Option<f64>;

fn p50(block: &Block) -> Option<f64> {
    block.response.quantile(0.5).map(|v| v as f64)
}

fn p99(block: &Block) -> Option<f64> {
    block.response.quantile(0.99).map(|v| v as f64)
}

fn rate(block: &Block) -> Option<f64> {
    Some(ratio(block.requests as f64, block.length_ns as f64 / 1e9))
}

fn in_flight(block: &Block) -> Option<f64> {
    Some(block.in_flight)
}

/// Seconds without a value repeat the previous one.
fn filled(blocks: &[Block], of: Reading) -> Vec<f64> {
    let mut last = blocks.iter().find_map(of).unwrap_or(0.0);
    blocks
        .iter()
        .map(|block| {
            last = of(block).unwrap_or(last);
            last
        })
        .collect()
}

/// Reports either a trend or level changes. A trend looks like steps, and a step like a trend: the one with the
/// smaller residuals counts, with a penalty for the number of steps (Schwarz 1978).
fn judge(
    what: &'static str,
    values: &[f64],
    blocks: &[Block],
    shifts: &mut Vec<Shift>,
    drifts: &mut Vec<Drift>,
) {
    let width = values.len().div_ceil(MOST).max(1);
    let means: Vec<f64> = values.chunks(width).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
    let values = &means[..];
    let Some(usual) = median(&mut values.to_vec()).filter(|m| *m > 0.0) else { return };
    let n = values.len() as f64;
    // proof: `at` is below the number of means, so its first block exists.
    let seconds = |at: usize| blocks[at * width].from_ns as f64 / 1e9;
    let found: Vec<Change> = changes(values);
    let slope = trend(values).filter(|t| t.p_value < CHANCE && (t.slope * n / usual).abs() > WORTH);
    let steps_left = {
        let mut level = found.first().map_or(usual, |c| c.before);
        let mut next = found.iter().peekable();
        let left = values.iter().enumerate().map(|(at, v)| {
            if let Some(change) = next.next_if(|c| c.at == at) {
                level = change.after;
            }
            (v - level).abs()
        });
        left.sum::<f64>()
    };
    if let Some(t) = slope {
        let mut level: Vec<f64> = values.iter().enumerate().map(|(at, v)| v - t.slope * at as f64).collect();
        let start = median(&mut level.clone()).unwrap_or(0.0);
        let line_left: f64 = level.iter_mut().map(|v| (*v - start).abs()).sum();
        let price = (found.len() as f64 * 2.0 - 1.0).max(0.0) * n.ln() / n;
        if found.is_empty() || line_left.ln() <= steps_left.max(f64::MIN_POSITIVE).ln() + price {
            let lasted_s = seconds(values.len() - 1) - seconds(0);
            let per_hour = 3_600.0 * (n - 1.0) / lasted_s.max(f64::MIN_POSITIVE);
            drifts.push(Drift {
                figure: what,
                per_hour: t.slope * per_hour,
                low_per_hour: t.low * per_hour,
                high_per_hour: t.high * per_hour,
                change_ratio: t.slope * n / usual,
            });
            return;
        }
    }
    for change in
        found.iter().filter(|c| (c.after - c.before).abs() > WORTH * c.before.abs().min(c.after.abs()))
    {
        shifts.push(Shift {
            figure: what,
            at_s: seconds(change.at),
            before: change.before,
            after: change.after,
        });
    }
}

fn periodic(blocks: &[Block]) -> Option<Periodic> {
    let values = filled(blocks, p99);
    let baseline = median(&mut values.clone())?;
    // A pause that crosses the border of two seconds is one spike.
    let mut starts: Vec<usize> = Vec::new();
    let mut before = None;
    for at in spikes(&values).into_iter().filter(|at| values[*at] > 2.0 * baseline) {
        if before.is_none_or(|b| at > b + 1) {
            starts.push(at);
        }
        before = Some(at);
    }
    let from = |at: usize| blocks[at].from_ns as f64 / 1e9;
    let gaps: Vec<f64> = starts.windows(2).map(|w| from(w[1]) - from(w[0])).collect();
    if starts.len() < AGAIN {
        return None;
    }
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    if deviation > REGULAR * mean {
        return None;
    }
    let back = |start: &usize| {
        let end = (*start..values.len()).find(|at| values[*at] <= RECOVERED * baseline)?;
        Some(from(end) - from(*start))
    };
    let mut peaks: Vec<f64> = starts.iter().map(|at| values[*at]).collect();
    Some(Periodic {
        spikes: starts.len(),
        every_s: mean,
        baseline_ns: baseline,
        peak_ns: median(&mut peaks)?,
        recovered_after_s: median(&mut starts.iter().filter_map(back).collect::<Vec<f64>>()),
    })
}

fn text(what: &str, value: f64) -> String {
    match what {
        "p50" => duration_f64_ns(value),
        "throughput" => rate_per_s(value),
        _ => quantity(value),
    }
}

pub(super) fn findings(courses: &[RunCourse], out: &mut Vec<Finding>) {
    for run in courses {
        let settings = settings_text(&run.settings);
        let place = if settings.is_empty() {
            run.name.clone()
        } else {
            format!("{settings}, repeat {}", run.repeat + 1)
        };
        if let Some(shift) = run.shifts.iter().max_by(|a, b| weight(a).total_cmp(&weight(b))) {
            out.push(Finding {
                code: "level_changed",
                sentence: format!("{place}: the level changed at {}", chosen_s(shift.at_s)),
                evidence: format!(
                    "{} changed from {} to {}{}",
                    shift.figure.replace('_', " "),
                    text(shift.figure, shift.before),
                    text(shift.figure, shift.after),
                    if run.shifts.len() > 1 {
                        format!(", {} changes in total", run.shifts.len())
                    } else {
                        String::new()
                    }
                ),
                advice: "find what happened then, or raise the warm-up: the results mix two states".into(),
            });
        }
        if let Some(drift) = run.drifts.first() {
            let way = if drift.change_ratio > 0.0 { "rises" } else { "falls" };
            let (code, advice) = if run.is_falling_behind {
                (
                    "is_falling_behind",
                    "lower the rate: it exceeds capacity, so times depend on the length of the run",
                )
            } else {
                ("drifts", "run longer and monitor the server: memory, a table, or a cache may be filling up")
            };
            out.push(Finding {
                code,
                sentence: format!(
                    "{place}: {} {way} throughout the run, by {} of its median",
                    drift.figure.replace('_', " "),
                    percent(drift.change_ratio.abs())
                ),
                evidence: format!(
                    "{} per hour (95% CI {} to {}; Theil-Sen, Mann-Kendall p < 0.001)",
                    text(drift.figure, drift.per_hour),
                    text(drift.figure, drift.low_per_hour),
                    text(drift.figure, drift.high_per_hour)
                ),
                advice: advice.into(),
            });
        }
        if let Some(p) = &run.periodic {
            let back =
                p.recovered_after_s.map_or(String::new(), |s| format!(", recovered after {}", chosen_s(s)));
            out.push(Finding {
                code: "periodic_spikes",
                sentence: format!("{place}: p99 spikes every {}", chosen_s(p.every_s)),
                evidence: format!(
                    "{} spikes to {}, baseline {}{back}",
                    p.spikes,
                    duration_f64_ns(p.peak_ns),
                    duration_f64_ns(p.baseline_ns)
                ),
                advice: "compare these times with the server's log: garbage collection, a flush, or a scheduled job"
                    .into(),
            });
        }
    }
}

fn weight(shift: &Shift) -> f64 {
    (shift.after / shift.before).ln().abs()
}
