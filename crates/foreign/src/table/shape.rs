//! The shape of a grid before its columns are named: times that share a column are split, and goals are left out.

use super::cell;
use super::column::{column, is_goal};
use super::grid::Grid;
use super::unit::Kind;

/// `P50/P95/P99` above `1.2/3.4/5.6 ms` are three columns.
pub fn split_times(grid: &Grid) -> Grid {
    let parts: Vec<Vec<String>> = (0..grid.header.len()).map(|at| joined_columns(grid, at)).collect();
    if parts.iter().all(|names| names.len() < 2) {
        return grid.clone();
    }
    let mut apart = Grid { header: Vec::new(), rows: Vec::new(), ..grid.clone() };
    for (at, names) in parts.iter().enumerate() {
        match names.len() {
            0 | 1 => apart.header.push(grid.header[at].clone()),
            _ => apart.header.extend(names.iter().cloned()),
        }
    }
    for (line, cells) in &grid.rows {
        let mut row = Vec::new();
        for (at, names) in parts.iter().enumerate() {
            let text = cells.get(at).map_or("", String::as_str);
            match names.len() {
                0 | 1 => row.push(text.to_owned()),
                n => row.extend(cell::parts(text, n).unwrap_or_else(|| vec![String::new(); n])),
            }
        }
        apart.rows.push((*line, row));
    }
    apart
}

/// The names of a column of several times, each with the unit of the last; one or none: it is a column like others.
fn joined_columns(grid: &Grid, at: usize) -> Vec<String> {
    let header = &grid.header[at];
    let end = header.find(['(', '[']).unwrap_or(header.len());
    let (names, unit) = header.split_at(end);
    let names: Vec<String> =
        names.split('/').map(|name| format!("{} {unit}", name.trim()).trim().to_owned()).collect();
    let is_time = |name: &String| column(name).is_some_and(|c| c.kind == Kind::Time);
    let fits = |(_, cells): &&(u32, Vec<String>)| {
        cells.get(at).is_some_and(|text| cell::parts(text, names.len()).is_some())
    };
    let full = grid.rows.iter().filter(fits).count();
    if names.len() < 2 || !names.iter().all(is_time) || full * 2 <= grid.rows.len() {
        return Vec::new();
    }
    names
}

/// Columns and rows of goals are not results: `Target`, `SLO`, and those whose cells are all bounds (`< 200ms`).
/// None: it has no such ones.
pub fn without_goals(grid: &Grid) -> Option<Grid> {
    let is_of_bounds = |texts: &mut dyn Iterator<Item = &String>| {
        let (mut bounds, mut others) = (0, 0);
        for text in texts.filter(|text| !cell::is_nothing(text)) {
            if cell::is_bound(text) {
                bounds += 1;
            } else if cell::number(text, 0).is_some() {
                others += 1;
            }
        }
        bounds >= 1 && others == 0
    };
    if is_of_goals(grid) {
        return Some(Grid { rows: Vec::new(), ..grid.clone() });
    }
    let name = |at: usize| grid.header[at].as_str();
    let goal = |at: usize| {
        let mut cells = grid.rows.iter().filter_map(|(_, cells)| cells.get(at));
        at > 0 && (is_goal(name(at)) || is_of_bounds(&mut cells))
    };
    let kept: Vec<bool> = (0..grid.header.len()).map(|at| !goal(at)).collect();
    let is_kept = |(_, cells): &&(u32, Vec<String>)| {
        let named = cells.first().is_some_and(|label| is_goal(label));
        !(named || is_of_bounds(&mut cells.iter().skip(1)))
    };
    if kept.iter().all(|kept| *kept) && grid.rows.iter().all(|row| is_kept(&row)) {
        return None;
    }
    let mut left = grid.clone();
    left.rows = grid.rows.iter().filter(is_kept).cloned().collect();
    for (_, cells) in &mut left.rows {
        for (cell, _) in cells.iter_mut().zip(&kept).filter(|(_, kept)| !**kept) {
            cell.clear();
        }
    }
    Some(left)
}

/// Below `Latency targets`, without a column of what came about.
fn is_of_goals(grid: &Grid) -> bool {
    const CAME_ABOUT: [&str; 10] = [
        "current", "actual", "achieved", "measured", "result", "observed", "status", "before", "after",
        "baseline",
    ];
    let title = if grid.caption.is_empty() { grid.headings.last() } else { Some(&grid.caption) };
    let says = |text: &String, words: &[&str]| {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word.trim_end_matches('s')))
    };
    let titled = title.is_some_and(|title| {
        says(title, &["target", "goal", "slo", "objective", "budget"]) && !says(title, &CAME_ABOUT)
    });
    titled && !grid.header.iter().any(|name| says(name, &CAME_ABOUT))
}
