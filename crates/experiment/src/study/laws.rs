//! Laws that apply to any service: Little's law N = X R, and X = N / RTT if the round trip is the limit.

use super::{AxisKind, CellRow, Curve, Finding, LittleRow, level_text, levels_text, settings_text};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_analysis::ratio;
use plimsoll_plan::phrase::{duration_f64_ns, duration_ns, quantity, rate_per_s, ratio as percent};

/// Time outside requests is reported from this share up.
const MISSING: f64 = 0.10;
/// A response within this many round trips was in the network all the time ...
const ROUND_TRIPS: f64 = 1.3;
/// ... if the round trip is at least this long, in ns; below it, processing matters.
const FAR_NS: u64 = 1_000_000;
/// Levels whose requests in flight differ by less than this share have the same limit.
const SAME: f64 = 0.03;

/// Compares the users with X R. If the load changes during the run, the measured requests in flight replace the
/// users.
pub(super) fn little(digest: &Digest) -> LittleRow {
    let spent = |h: &plimsoll_stats::Hist| h.sum() as f64 / 1e9;
    let lasted: f64 = digest.blocks.iter().map(|b| b.length_ns as f64 / 1e9).sum();
    let in_flight_computed = if lasted > 0.0 {
        digest.blocks.iter().map(|b| spent(&b.service)).sum::<f64>() / lasted
    } else {
        let time = &digest.service_time;
        ratio(time.mean_ns.unwrap_or(0.0) / 1e9 * time.count as f64, digest.measured_s)
    };
    let n = match digest.level {
        Level::Users(n) if !changes_load(digest) => n,
        Level::Users(_) | Level::Rate(_) => digest.in_flight_mean,
    };
    let missing = n - in_flight_computed;
    LittleRow {
        in_flight_mean: n,
        in_flight_computed,
        missing_ratio: ratio(missing, n),
        missing_per_request_ns: ratio(missing * 1e9, digest.rate_per_s),
        is_unexplained: digest.cautions.iter().any(|c| c.kind == Kind::LittlesLaw),
    }
}

/// Whether the first and the last quarter of the run have different loads: a ramp, or stages.
pub(super) fn changes_load(digest: &Digest) -> bool {
    let quarter = digest.blocks.len() / 4;
    if quarter == 0 {
        return false;
    }
    let mean = |blocks: &[plimsoll_analysis::digest::Block]| -> f64 {
        let load = |b: &plimsoll_analysis::digest::Block| match digest.level {
            Level::Users(_) => b.in_flight,
            Level::Rate(_) => ratio(b.offered as f64, b.length_ns as f64 / 1e9),
        };
        blocks.iter().map(load).sum::<f64>() / blocks.len() as f64
    };
    let (first, last) =
        (mean(&digest.blocks[..quarter]), mean(&digest.blocks[digest.blocks.len() - quarter..]));
    (first - last).abs() > 0.2 * first.max(last)
}

pub(super) fn findings(curve: &Curve, table: &[CellRow], out: &mut Vec<Finding>) {
    let rows: Vec<(f64, &CellRow)> =
        curve.points.iter().map(|p| (p.parameter_value, &table[p.row])).collect();
    audit(curve, &rows, out);
    round_trips(curve, &rows, out);
    same_in_flight(curve, &rows, out);
}

fn place(curve: &Curve) -> String {
    let fixed = settings_text(&curve.settings);
    if fixed.is_empty() { String::new() } else { format!("{fixed}: ") }
}

fn audit(curve: &Curve, rows: &[(f64, &CellRow)], out: &mut Vec<Finding>) {
    let users: Vec<&(f64, &CellRow)> =
        rows.iter().filter(|(_, row)| row.is_users && row.little.in_flight_mean > 0.0).collect();
    let worst = |least: bool| {
        let judged = users.iter().filter(|(_, row)| {
            let missing = row.little.missing_ratio;
            if least { missing < -MISSING } else { missing > MISSING && row.little.is_unexplained }
        });
        let mut all: Vec<&&(f64, &CellRow)> = judged.collect();
        all.sort_by(|a, b| b.1.little.missing_ratio.abs().total_cmp(&a.1.little.missing_ratio.abs()));
        all
    };
    let evidence = |row: &CellRow| {
        format!(
            "{} users, {} in flight computed (throughput × service time): {} of the users' time, {} per request",
            quantity(row.little.in_flight_mean),
            quantity(row.little.in_flight_computed),
            percent(row.little.missing_ratio.abs()),
            duration_f64_ns(row.little.missing_per_request_ns.abs())
        )
    };
    let missing = worst(false);
    if let Some((x, row)) = missing.first() {
        let mut xs: Vec<f64> = missing.iter().map(|(x, _)| *x).collect();
        xs.sort_by(f64::total_cmp);
        out.push(Finding {
            code: "users_outside_requests",
            sentence: format!(
                "{}users spent up to {} of their time outside requests at {} {}",
                place(curve),
                percent(row.little.missing_ratio),
                curve.parameter,
                levels_text(&xs)
            ),
            evidence: format!("at {}: {}", level_text(*x), evidence(row)),
            advice: "use fewer users or more workers: the plan does not explain this time, so the load generator is \
                     the likely limit"
                .into(),
        });
    }
    if let Some((x, row)) = worst(true).first() {
        out.push(Finding {
            code: "more_time_than_users",
            sentence: format!(
                "{}requests took {} more time than the users had",
                place(curve),
                percent(-row.little.missing_ratio)
            ),
            evidence: format!("at {} {}: {}", curve.parameter, level_text(*x), evidence(row)),
            advice:
                "check whether users had several requests in flight at once, or whether merged runs were not \
                     concurrent"
                    .into(),
        });
    }
}

fn round_trips(curve: &Curve, rows: &[(f64, &CellRow)], out: &mut Vec<Finding>) {
    let bound: Vec<(f64, u64, u64)> = rows
        .iter()
        .filter(|(_, row)| row.is_users)
        .filter_map(|(x, row)| Some((*x, row.service_p50_ns?, row.rtt_min_ns?)))
        .filter(|(_, p50, rtt)| *rtt >= FAR_NS && *p50 as f64 <= ROUND_TRIPS * *rtt as f64)
        .collect();
    if let Some((_, p50, rtt)) = bound.last() {
        let xs: Vec<f64> = bound.iter().map(|b| b.0).collect();
        out.push(Finding {
            code: "rtt_bound",
            sentence: format!(
                "{}the round trip limits throughput at {} {}",
                place(curve),
                curve.parameter,
                levels_text(&xs)
            ),
            evidence: format!(
                "round trip {}, p50 service time {}: throughput equals users divided by the round trip",
                duration_ns(*rtt),
                duration_ns(*p50)
            ),
            advice: "compare higher levels, or run the load generator closer to the target".into(),
        });
    }
}

fn same_in_flight(curve: &Curve, rows: &[(f64, &CellRow)], out: &mut Vec<Finding>) {
    if curve.kind != AxisKind::Concurrency {
        return;
    }
    // From the top: levels that differ greatly but have the same number in flight, clearly below their users.
    let mut same: Vec<(f64, f64)> = Vec::new();
    for (x, row) in rows.iter().rev() {
        let alike = same.first().is_none_or(|(_, first)| (row.in_flight / first - 1.0).abs() <= SAME);
        if row.in_flight > 0.0 && row.in_flight < 0.9 * row.level && alike {
            same.push((*x, row.in_flight));
        } else {
            break;
        }
    }
    if let (Some(high), Some(low)) = (same.first(), same.last())
        && same.len() > 1
        && high.0 >= 1.3 * low.0
    {
        let mut xs: Vec<f64> = same.iter().map(|s| s.0).collect();
        xs.reverse();
        let of = |(x, n): &(f64, f64)| format!("{} users: {}", level_text(*x), quantity(*n));
        let each: Vec<String> = same.iter().rev().map(of).collect();
        out.push(Finding {
            code: "same_in_flight",
            sentence: format!(
                "{}a limit keeps {} requests in flight at {} {}",
                place(curve),
                quantity(high.1),
                curve.parameter,
                levels_text(&xs)
            ),
            evidence: each.join(", "),
            advice: "look for a connection limit: file descriptors, ports, or a pool, first on the load generator, \
                     then on the service"
                .into(),
        });
    }
}

/// The throughput for evidence, such as `812/s`.
pub(super) fn rate_text(row: &CellRow) -> String {
    row.rate_per_s.value.map_or("-".into(), rate_per_s)
}
