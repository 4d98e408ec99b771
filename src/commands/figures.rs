//! `plimsoll report ... --figures FOLDER`: pictures of a run or an experiment as SVG files.

use crate::exit::Failure;
use plimsoll_output::chart::Chart;
use plimsoll_output::figure::{self, Skin};
use plimsoll_record::analysis::summarise;
use plimsoll_record::experiment::Conclusion;
use plimsoll_record::folder;
use plimsoll_record::picture::Picture;
use plimsoll_record::run_file;
use plimsoll_record::summary::Summary;
use std::io::Write;
use std::path::Path;

/// With more runs than this their courses are too many to look at: the curves over all of them say more.
const MOST_COURSES: usize = 6;

/// Pictures of one run.
///
/// # Errors
/// When a file cannot be written, or is there already.
pub fn of_run(summary: &Summary, to: &Path) -> Result<(), Failure> {
    write(&of_summary(summary), to)
}

/// Pictures of an experiment; of a few runs also the course of each.
///
/// # Errors
/// When a file cannot be written or is there already, or a run cannot be read.
pub fn of_folder(conclusion: &Conclusion, runs: &Path, to: &Path) -> Result<(), Failure> {
    let mut all = figure::of_conclusion(conclusion);
    let read = folder::read(runs)?;
    if read.runs.len() <= MOST_COURSES {
        for run in &read.runs {
            let stem =
                run.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let summary = summarise(&run_file::read(&run.path)?);
            all.extend(of_summary(&summary).into_iter().map(|mut chart| {
                chart.id = format!("{stem}-{}", chart.id);
                chart
            }));
        }
    }
    write(&all, to)
}

/// Under the name of the run: a file stands alone.
fn of_summary(summary: &Summary) -> Vec<Chart> {
    let name = if summary.name.is_empty() { &summary.target } else { &summary.name };
    figure::of_run(summary, &Picture::default()).iter().map(|chart| figure::titled(chart, name)).collect()
}

/// A picture that somebody kept is worth more than the same one again.
fn write(charts: &[Chart], to: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, e: std::io::Error| {
        let hint = match e.kind() {
            std::io::ErrorKind::AlreadyExists => Some("name another folder, or remove the file".to_owned()),
            _ => None,
        };
        Failure::machine(format!("cannot write `{}`: {}", path.display(), e.to_string().to_lowercase()), hint)
    };
    std::fs::create_dir_all(to).map_err(|e| failed(to, e))?;
    for chart in charts {
        let svg = figure::draw(chart, Skin::File);
        let path = to.join(format!("{}.svg", chart.id));
        let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        made.and_then(|mut file| file.write_all(svg.as_bytes())).map_err(|e| failed(&path, e))?;
    }
    Ok(())
}
