//! A heat map: counts in nine shades on a logarithmic scale, one path for each shade.

use super::super::svg::{Anchor, Path, Svg};
use super::super::text;
use crate::Heat;
use plimsoll_plan::phrase::count;

/// Number of shades: readers cannot distinguish more, and a legend of nine is easy to scan.
pub const SHADES: usize = 9;
/// Most columns and rows drawn; a picture larger than [`ROOM`] gets fewer columns.
const COLUMNS: usize = 170;
const ROWS: usize = 48;
const ROOM: usize = 28_000;

/// Returns the edges of the rows that have counts, plus one empty row on each side; all rows if there are no counts.
pub fn reach(heat: &Heat) -> (f64, f64) {
    let rows = heat.edges.len().saturating_sub(1);
    let is_there = |row: usize| heat.counts.iter().any(|column| column.get(row).is_some_and(|n| *n > 0));
    let first = (0..rows).find(|row| is_there(*row)).unwrap_or(0);
    let last = (0..rows).rev().find(|row| is_there(*row)).unwrap_or(rows.saturating_sub(1));
    let edge = |at: usize| heat.edges.get(at.min(rows)).copied().unwrap_or(1.0);
    (edge(first.saturating_sub(1)), edge((last + 2).max(1)))
}

/// Returns the shade of a count, where `most` is the highest count: the lightest for 1, the darkest for `most`.
fn shade(n: u64, most: u64) -> usize {
    if most <= 1 {
        return SHADES - 1;
    }
    let share = (n as f64).ln() / (most as f64).ln();
    ((share * SHADES as f64) as usize).min(SHADES - 1)
}

/// Counts of a heat map, combined into fewer columns and rows, with the edges of both.
struct Grid {
    x: Vec<f64>,
    y: Vec<f64>,
    counts: Vec<Vec<u64>>,
}

fn coarser(heat: &Heat, xs: &[f64], end: f64, columns: usize) -> Grid {
    let (low, high) = reach(heat);
    let first = heat.edges.iter().position(|edge| *edge >= low).unwrap_or(0);
    let last = heat.edges.iter().rposition(|edge| *edge <= high).unwrap_or(0).max(first);
    let by_row = (last - first).div_ceil(ROWS).max(1);
    let by_column = xs.len().min(heat.counts.len()).div_ceil(columns).max(1);
    let mut y: Vec<f64> =
        (first..last).step_by(by_row).filter_map(|row| heat.edges.get(row).copied()).collect();
    y.extend(heat.edges.get(last));
    let column = |part: &[Vec<u64>]| -> Vec<u64> {
        let sum = |row: usize| {
            let rows = row..(row + by_row).min(last);
            part.iter().flat_map(|column| rows.clone().filter_map(|r| column.get(r))).sum()
        };
        (first..last).step_by(by_row).map(sum).collect()
    };
    let mut x: Vec<f64> = xs.iter().copied().step_by(by_column).collect();
    x.push(end);
    Grid { x, y, counts: heat.counts.chunks(by_column).map(column).collect() }
}

/// Draws the heat map; returns the highest count of a cell, for the legend.
pub fn draw(
    svg: &mut Svg,
    heat: &Heat,
    xs: &[f64],
    end: f64,
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
) -> u64 {
    let mut columns = COLUMNS;
    loop {
        let grid = coarser(heat, xs, end, columns);
        let (paths, room) = shades(&grid, x, y);
        if room > ROOM && columns > 20 {
            columns = columns * 2 / 3;
            continue;
        }
        for (shade, path, thick) in paths {
            svg.path_of_width(path, &format!("heat h{shade}"), thick);
        }
        return grid.counts.iter().flatten().copied().max().unwrap_or(0);
    }
}

/// Returns the paths of each shade. A run of cells with one shade in a row is one stroke as thick as the row, which
/// takes half the space of rectangles.
fn shades(grid: &Grid, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> (Vec<(usize, Path, f64)>, usize) {
    let most = grid.counts.iter().flatten().copied().max().unwrap_or(0);
    // Whole pixels, so that no seam shows between adjacent cells.
    let left: Vec<f64> = grid.x.iter().map(|at| x(*at).round()).collect();
    let edges: Vec<f64> = grid.y.iter().map(|at| y(*at).round()).collect();
    let mut paths: Vec<(usize, Path, f64)> = Vec::new();
    for (row, sides) in edges.windows(2).enumerate() {
        let (thick, middle) = ((sides[0] - sides[1]).abs(), (sides[0] + sides[1]) / 2.0);
        let of = |column: usize| {
            let n = grid.counts.get(column).and_then(|rows| rows.get(row)).copied().unwrap_or(0);
            (n > 0).then(|| shade(n, most))
        };
        let mut from = 0;
        while from < grid.counts.len() {
            let mut to = from + 1;
            while to < grid.counts.len() && of(to) == of(from) {
                to += 1;
            }
            if let (Some(shade), Some(start), Some(end)) = (of(from), left.get(from), left.get(to)) {
                let known = paths.iter().position(|(s, _, t)| *s == shade && *t == thick);
                let at = known.unwrap_or_else(|| {
                    paths.push((shade, Path::default(), thick));
                    paths.len() - 1
                });
                // proof: `at` is the place of an element that was found or pushed
                let path = &mut paths[at].1;
                path.move_to(*start, middle);
                path.across_to(end.max(start + 1.0));
            }
            from = to;
        }
    }
    let room = paths.iter().map(|(_, path, _)| path.d().len()).sum();
    paths.sort_by_key(|(shade, ..)| *shade);
    (paths, room)
}

/// Draws the legend of the shades, ending at `right`.
pub fn legend(svg: &mut Svg, heat: &Heat, most: u64, right: f64, y: f64) {
    let end = format!("{} {}", count(most), heat.what);
    let mut at = right - text::width(&end);
    svg.text((right, y), Anchor::End, "", &end);
    at -= 6.0 + 14.0 * SHADES as f64;
    for shade in 0..SHADES {
        let mut path = Path::default();
        path.move_to(at + 14.0 * shade as f64, y - 4.0);
        path.across_to(at + 14.0 * (shade + 1) as f64);
        svg.path_of_width(path, &format!("heat h{shade}"), 10.0);
    }
    svg.text((at - 5.0, y), Anchor::End, "", "1");
}
