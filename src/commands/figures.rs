//! `plimsoll report ... --charts DIR`: the charts of a run or an experiment as SVG files and, on request, PNG files.

use crate::exit::{Failure, not_built};
use crate::flags::verbs::Report;
use crate::say;
use plimsoll_analysis::picture::spans_of;
use plimsoll_analysis::summarise_with_picture;
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::png;
use plimsoll_chart::{Chart, Skin};
use plimsoll_experiment::conclusion::Conclusion;
use plimsoll_experiment::folder;
use plimsoll_output::{figure, markdown};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::run_file;
use std::io::Write;
use std::path::{Path, PathBuf};

/// With more runs than this, the charts over all runs are more useful than those of each.
const MOST_COURSES: usize = 6;
/// High-density screens have twice as many pixels as CSS pixels.
const PNG_SCALE: f32 = 2.0;

/// Destination and formats of charts.
#[derive(Debug, Clone)]
pub struct ChartOptions {
    to: PathBuf,
    png: bool,
    /// Whether the printed report is Markdown, which links the charts.
    linked: bool,
}

impl ChartOptions {
    /// # Errors
    /// Returns an error for `--png` without `--charts`.
    pub fn of(flags: &Report) -> Result<Option<ChartOptions>, Failure> {
        match &flags.charts {
            Some(_) if flags.png && !png::IS_BUILT => Err(not_built("--png", "png")),
            Some(to) => Ok(Some(ChartOptions { to: to.into(), png: flags.png, linked: flags.form.markdown })),
            None if flags.png => Err(Diagnostic::new(
                "U047",
                Place::Flag("--png".into()),
                "`--png` requires `--charts`",
                "name the directory, such as `--charts pictures --png`",
            )
            .into()),
            None => Ok(None),
        }
    }

    /// Returns the same options for a subfolder.
    pub fn within(&self, folder: &str) -> ChartOptions {
        ChartOptions { to: self.to.join(folder), ..self.clone() }
    }
}

/// Writes the charts of one run.
///
/// # Errors
/// Returns an error if a file cannot be written or exists already.
pub fn of_run(summary: &Summary, charts: Vec<Chart>, wish: &ChartOptions) -> Result<(), Failure> {
    write(&under_its_name(summary, charts), wish)
}

/// Writes the charts of an experiment and, if it has few runs, those of each run.
///
/// # Errors
/// Returns an error if a file cannot be written or exists already, or if a run cannot be read.
pub fn of_folder(conclusion: &Conclusion, runs: &Path, wish: &ChartOptions) -> Result<(), Failure> {
    let mut all = figure::of_conclusion(conclusion);
    let read = folder::read(runs)?;
    if read.runs.len() <= MOST_COURSES {
        for run in &read.runs {
            let stem =
                run.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let record = run_file::read(&run.path)?;
            let (summary, picture) = summarise_with_picture(&record, &spans_of(&run.path, &record)?);
            let own = under_its_name(&summary, figure::of_run(&summary, &picture));
            all.extend(own.into_iter().map(|chart| Chart { id: format!("{stem}-{}", chart.id), ..chart }));
        }
    }
    write(&all, wish)
}

/// Adds the name of the run to each chart, because its file is read on its own.
fn under_its_name(summary: &Summary, charts: Vec<Chart>) -> Vec<Chart> {
    let name = if summary.name.is_empty() { &summary.target } else { &summary.name };
    charts.iter().map(|chart| figure::titled(chart, name)).collect()
}

/// Writes the files without replacing existing ones, which the user may have kept.
fn write(charts: &[Chart], wish: &ChartOptions) -> Result<(), Failure> {
    std::fs::create_dir_all(&wish.to).map_err(|e| failed(&wish.to, e))?;
    let mut written = Vec::new();
    for chart in charts {
        let svg = plimsoll_chart::draw(chart, Skin::File);
        let name = format!("{}.svg", chart.id);
        keep(&wish.to.join(&name), svg.as_bytes())?;
        if wish.png {
            keep(&wish.to.join(format!("{}.png", chart.id)), &png::of(&svg, PNG_SCALE)?)?;
        }
        written.push((chart, name));
    }
    if wish.linked {
        let links = written.iter().map(|(chart, name)| (*chart, wish.to.join(name).display().to_string()));
        say::result(&markdown::pictures(&links.collect::<Vec<_>>()))?;
    }
    Ok(())
}

fn keep(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(bytes)).map_err(|e| failed(path, e))
}

fn failed(path: &Path, e: std::io::Error) -> Failure {
    let hint = match e.kind() {
        std::io::ErrorKind::AlreadyExists => Some("name another directory, or remove the file".to_owned()),
        _ => None,
    };
    Failure::machine(format!("cannot write `{}`: {}", path.display(), e.to_string().to_lowercase()), hint)
}
