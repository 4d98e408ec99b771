//! The network as the bottleneck: bytes per second that stay the same while everything else changes.
//!
//! Two services on one saturated link have rates in inverse proportion to their response sizes, independently of their
//! capacities; ranking them ranks their headers.

use super::{AxisKind, CellRow, Curve, Finding, laws, level_text, levels_text, settings_text};
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::phrase::{duration_f64_ns, quantity, ratio as percent};

/// Bytes per second that differ by at most this factor are equal.
const SAME: f64 = 1.10;
/// Rates of two configurations differ if they differ by this factor ...
const APART: f64 = 1.10;
/// ... and their bytes per second are equal if they are within this factor and less than half as far apart as the
/// rates. Frames and acknowledgments use a link per packet, not per byte, so smaller responses leave fewer bytes of
/// it: 5 Mbit/s carry 488 kB/s of one service's responses and 458 kB/s of another's.
const EQUAL: f64 = 1.08;
/// Above this ratio to the TTFB, most of the time is download.
const IN_BODY: f64 = 3.0;

pub(super) fn findings(table: &[CellRow], curves: &mut [Curve], out: &mut Vec<Finding>) {
    for curve in curves.iter_mut() {
        full(curve, table, out);
    }
    let mut shared = Vec::new();
    for at in 0..curves.len() {
        for other in at + 1..curves.len() {
            if let Some(finding) = unranked(&curves[at], &curves[other], table) {
                out.push(finding);
                shared.extend([at, other]);
            }
        }
    }
    // Saturation comes from the network there, and needs no separate finding.
    for at in shared {
        if let Some(saturation) = &mut curves[at].saturation {
            saturation.is_link = true;
        }
    }
}

/// `0.640 MB/s (5.12 Mbit/s)`.
fn bytes_text(bytes_per_s: f64) -> String {
    let of = |n: f64, unit: &str| match n {
        n if n >= 1e9 => format!("{} G{unit}/s", quantity(n / 1e9)),
        n if n >= 1e6 => format!("{} M{unit}/s", quantity(n / 1e6)),
        n => format!("{} k{unit}/s", quantity(n / 1e3)),
    };
    format!("{} ({})", of(bytes_per_s, "B"), of(bytes_per_s * 8.0, "bit"))
}

/// Returns the longest range at the upper end of a curve with the same bytes per second.
fn flat<'a>(curve: &Curve, table: &'a [CellRow]) -> Vec<(f64, &'a CellRow)> {
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    let mut flat: Vec<(f64, &CellRow)> = Vec::new();
    for point in curve.points.iter().rev() {
        let row = &table[point.row];
        (low, high) = (low.min(row.bytes_in_per_s), high.max(row.bytes_in_per_s));
        if low <= 0.0 || high > SAME * low {
            break;
        }
        flat.push((point.parameter_value, row));
    }
    flat.reverse();
    flat
}

fn mean_bytes(rows: &[(f64, &CellRow)]) -> f64 {
    rows.iter().map(|(_, row)| row.bytes_in_per_s).sum::<f64>() / rows.len().max(1) as f64
}

/// Flat over levels, with the time in the download: a slow service takes its time before the first byte.
fn full(curve: &mut Curve, table: &[CellRow], out: &mut Vec<Finding>) {
    let flat = flat(curve, table);
    let (Some(first), Some(last)) = (flat.first(), flat.last()) else { return };
    if curve.kind == AxisKind::Other || flat.len() < 3 || last.0 < 2.0 * first.0 {
        return;
    }
    let (Some(body), Some(wait)) = (last.1.body_mean_ns, last.1.first_byte_mean_ns) else { return };
    let in_body =
        |row: &CellRow| row.body_mean_ns.zip(row.first_byte_mean_ns).is_some_and(|(b, f)| b > IN_BODY * f);
    if !flat.iter().all(|(_, row)| in_body(row)) {
        return;
    }
    if let Some(saturation) = &mut curve.saturation {
        saturation.is_link = true;
    }
    let fixed = settings_text(&curve.settings);
    let xs: Vec<f64> = flat.iter().map(|f| f.0).collect();
    out.push(Finding {
        code: "network_saturated",
        sentence: format!(
            "{}the network was saturated at {} {}: every level received {}",
            if fixed.is_empty() { fixed } else { format!("{fixed}: ") },
            curve.parameter,
            levels_text(&xs),
            bytes_text(mean_bytes(&flat))
        ),
        evidence: format!(
            "{} of the time is download ({}, TTFB {}); throughput {} to {}",
            percent(body / (body + wait)),
            duration_f64_ns(body),
            duration_f64_ns(wait),
            laws::rate_text(first.1),
            laws::rate_text(last.1)
        ),
        advice: "run the load generator closer to the target, or use smaller or compressed responses".into(),
    });
}

/// Compares two curves at the same levels: different rates, the same bytes, and bytes that are flat over the levels
/// as well (equal bytes at a single level may be chance).
fn unranked(a: &Curve, b: &Curve, table: &[CellRow]) -> Option<Finding> {
    if a.parameter != b.parameter {
        return None;
    }
    let (flat_a, flat_b) = (flat(a, table), flat(b, table));
    let mut both: Vec<(f64, &CellRow, &CellRow)> = Vec::new();
    for (x, row) in &flat_a {
        if let Some((_, other)) = flat_b.iter().find(|(level, _)| level == x) {
            both.push((*x, row, other));
        }
    }
    let outliers = |x: f64, y: f64| x.max(y) / x.min(y);
    let rates = |(_, p, q): &(f64, &CellRow, &CellRow)| p.rate_per_s.value.zip(q.rate_per_s.value);
    let (first, last) = (both.first()?, both.last()?);
    let differ = both.iter().all(|cell| rates(cell).is_some_and(|(x, y)| outliers(x, y) > APART));
    let equal = both.iter().all(|cell| {
        let bytes = outliers(cell.1.bytes_in_per_s, cell.2.bytes_in_per_s);
        let rates = rates(cell).map_or(1.0, |(x, y)| outliers(x, y));
        bytes < EQUAL && bytes.ln() < rates.ln() / 2.0
    });
    if both.len() < 2 || last.0 < 2.0 * first.0 || !differ || !equal {
        return None;
    }
    let differing: Vec<&Setting> = a.settings.iter().filter(|s| !b.settings.contains(s)).collect();
    let names = (
        differing.iter().map(|s| s.value.clone()).collect::<Vec<_>>().join(", "),
        b.settings
            .iter()
            .filter(|s| !a.settings.contains(s))
            .map(|s| s.value.clone())
            .collect::<Vec<_>>()
            .join(", "),
    );
    let (x, y) = rates(last)?;
    let xs: Vec<f64> = both.iter().map(|cell| cell.0).collect();
    let mean = (mean_bytes(&flat_a) + mean_bytes(&flat_b)) / 2.0;
    Some(Finding {
        code: "cannot_be_ranked",
        sentence: format!(
            "`{}` and `{}` cannot be ranked at {} {}: throughput differs, bytes per second do not",
            names.0,
            names.1,
            a.parameter,
            levels_text(&xs)
        ),
        evidence: format!(
            "at {}: {} vs. {} req/s, both {}; response sizes explain the difference",
            level_text(last.0),
            quantity(x),
            quantity(y),
            bytes_text(mean)
        ),
        advice: "run the load generator closer to the target, or use responses of the same size".into(),
    })
}
