//! Sweeps: cells that differ only in the compared setting are pairs, and the adjustment covers all of them.

use super::types::{CompareOptions, Comparison, Side};
use super::{Pair, compare_all};
use plimsoll_analysis::digest::Digest;
use plimsoll_plan::experiment::Setting;
use std::cmp::Ordering;

/// The parameter whose values are the sides.
const VARIANT: &str = "variant";

/// Compares two sweeps cell by cell: runs with equal settings, apart from `variant`. Cells of only one sweep are
/// skipped.
pub fn compare_cells(a: (&str, &[Digest]), b: (&str, &[Digest]), asked: &CompareOptions) -> Vec<Comparison> {
    let (cells_a, cells_b) = (by_cell(a.1.iter()), by_cell(b.1.iter()));
    let side = |name: &str, runs: &[&Digest]| Side {
        name: name.into(),
        runs: runs.iter().copied().cloned().collect(),
    };
    let mut sides = Vec::new();
    for (cell, runs) in &cells_a {
        if let Some((_, others)) = cells_b.iter().find(|(other, _)| other == cell) {
            sides.push((cell.clone(), side(a.0, runs), side(b.0, others)));
        }
    }
    all(&sides, asked)
}

/// Compares each value of `variant` with the `baseline`, by default the one that ran first, cell by cell. Returns
/// nothing if there are fewer than two values.
pub fn variants(digests: &[Digest], baseline: Option<&str>, asked: &CompareOptions) -> Vec<Comparison> {
    let mut names: Vec<&str> = Vec::new();
    let mut runs: Vec<&Digest> = digests.iter().filter(|run| value(run, VARIANT).is_some()).collect();
    // Runs are in random order, so the order of the file is unknown here: names are in the order of their first run.
    runs.sort_by_key(|run| run.cell.as_ref().map_or(0, |cell| cell.run_index));
    for run in &runs {
        let name = value(run, VARIANT).unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let Some(baseline) = baseline.or(names.first().copied()) else { return Vec::new() };
    let of = |name: &str| by_cell(runs.iter().copied().filter(|run| value(run, VARIANT) == Some(name)));
    let side = |name: &str, runs: &[&Digest]| Side {
        name: name.into(),
        runs: runs.iter().copied().cloned().collect(),
    };
    let first = of(baseline);
    let mut sides = Vec::new();
    for name in names.iter().filter(|name| **name != baseline) {
        for (cell, others) in of(name) {
            if let Some((_, runs)) = first.iter().find(|(other, _)| *other == cell) {
                sides.push((cell, side(baseline, runs), side(name, &others)));
            }
        }
    }
    all(&sides, asked)
}

fn all(sides: &[(Vec<Setting>, Side, Side)], asked: &CompareOptions) -> Vec<Comparison> {
    let pairs: Vec<Pair<'_>> = sides.iter().map(|(cell, a, b)| Pair { cell: cell.clone(), a, b }).collect();
    compare_all(&pairs, asked)
}

/// Returns the value of a parameter in a run.
pub fn value<'a>(run: &'a Digest, axis: &str) -> Option<&'a str> {
    let settings = &run.cell.as_ref()?.settings;
    settings.iter().find(|setting| setting.parameter == axis).map(|setting| setting.value.as_str())
}

type Cells<'a> = Vec<(Vec<Setting>, Vec<&'a Digest>)>;

/// Groups runs by their settings apart from the variant, in rising order.
fn by_cell<'a>(runs: impl Iterator<Item = &'a Digest>) -> Cells<'a> {
    by_other(runs, VARIANT)
}

/// Groups runs by all settings except `axis`.
pub fn by_other<'a>(runs: impl Iterator<Item = &'a Digest>, axis: &str) -> Cells<'a> {
    let mut cells: Cells<'a> = Vec::new();
    for run in runs {
        let all = run.cell.as_ref().map_or(&[][..], |cell| &cell.settings);
        let mut cell: Vec<Setting> =
            all.iter().filter(|setting| setting.parameter != axis).cloned().collect();
        cell.sort();
        match cells.iter_mut().find(|(other, _)| *other == cell) {
            Some((_, runs)) => runs.push(run),
            None => cells.push((cell, vec![run])),
        }
    }
    cells.sort_by(|a, b| rising(&a.0, &b.0));
    cells
}

/// Compares numbers by size and keeps the order of everything else.
fn rising(a: &[Setting], b: &[Setting]) -> Ordering {
    let number = |setting: &Setting| setting.value.trim_end_matches("/s").parse::<f64>().ok();
    let each = a.iter().zip(b).filter(|(x, y)| x.parameter == y.parameter).map(|(x, y)| {
        match (number(x), number(y)) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            _ => Ordering::Equal,
        }
    });
    each.fold(Ordering::Equal, Ordering::then)
}
