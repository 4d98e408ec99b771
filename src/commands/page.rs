//! `--html OUT`: the result as one file for a browser. Where it goes is looked at before anything is done; it is
//! written under another name beside and put in its place whole, so that nobody opens half a page.

use crate::exit::{Exit, Failure};
use crate::flags::page::PageFlag;
use crate::{say, wall};
use plimsoll_analysis::picture::{Picture, SpansOf, picture, spans_of};
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;
use plimsoll_output::figure;
use plimsoll_output::html::{Page, run_page};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::record::RunRecord;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where a page goes, checked.
pub enum Wanted {
    /// Standard output, in place of the text.
    Result,
    /// A file that was not there.
    File(PathBuf),
}

impl Wanted {
    /// What the flag asks for. `form` is another form of the result that goes to standard output (`--json`), if one is
    /// asked for.
    ///
    /// # Errors
    /// When the file is there already, or two results would share standard output.
    pub fn of(flag: &PageFlag, form: Option<&str>) -> Result<Option<Wanted>, Failure> {
        let Some(to) = &flag.html else { return Ok(None) };
        let place = || Place::Flag("--html".into());
        if to == "-" {
            return match form {
                None => Ok(Some(Wanted::Result)),
                Some(form) => {
                    let message = format!("`--html -` and `{form}` both go to standard output");
                    Err(Diagnostic::new("U038", place(), message, "give the page a file: `--html page.html`")
                        .into())
                }
            };
        }
        // A dangling link is something, too.
        if Path::new(to).symlink_metadata().is_ok() {
            return Err(taken(to));
        }
        Ok(Some(Wanted::File(PathBuf::from(to))))
    }

    /// Whether the page stands in for the text.
    pub fn is_result(&self) -> bool {
        matches!(self, Wanted::Result)
    }

    /// The file; `None`: standard output.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Wanted::Result => None,
            Wanted::File(path) => Some(path),
        }
    }

    /// Writes the page to where it was wanted.
    ///
    /// # Errors
    /// When it cannot be made or written, or something has come to stand in its place.
    pub fn write(&self, page: &Page) -> Result<(), Failure> {
        let text = page.render()?;
        match self {
            Wanted::Result => say::result(&text),
            Wanted::File(path) => put(path, &text),
        }
    }
}

/// The page of a run. `file`: its run file, where there is one; that of several machines has no courses of its
/// requests.
///
/// # Errors
/// When the run file cannot be read again.
pub fn of_run(record: &RunRecord, summary: &Summary, file: Option<&Path>) -> Result<Page, Failure> {
    let (picture, charts) = drawn(record, summary, file)?;
    let name = file.map(|file| file.display().to_string());
    Ok(run_page(summary, &picture, name.as_deref(), charts)?)
}

/// The charts of a run, such as its page has them.
///
/// # Errors
/// When the run file cannot be read again.
pub fn charts_of(record: &RunRecord, summary: &Summary, file: Option<&Path>) -> Result<Vec<Chart>, Failure> {
    Ok(drawn(record, summary, file)?.1)
}

/// What its charts are made of, and the charts.
///
/// # Errors
/// When the run file cannot be read again.
pub fn drawn(
    record: &RunRecord,
    summary: &Summary,
    file: Option<&Path>,
) -> Result<(Picture, Vec<Chart>), Failure> {
    let spans = file.map(|file| spans_of(file, record)).transpose()?.unwrap_or_else(SpansOf::default);
    let picture = picture(record, summary, &spans);
    let charts = figure::of_run(summary, &picture);
    Ok((picture, charts))
}

fn taken(to: &str) -> Failure {
    let message = format!("cannot write `{to}`: it exists already");
    Diagnostic::new(
        "U020",
        Place::Flag("--html".into()),
        message,
        "give another name, or move the old file away",
    )
    .into()
}

/// Whole or not at all, and never over something else.
fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::machine(format!("cannot write `{}`: {}", path.display(), e.to_string().to_lowercase()), None)
    };
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let beside = path.with_file_name(format!(".{name}.{}", wall::hex(&wall::random::<4>()?)));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    // A second name for the same file is refused where there is one already; a renaming would replace it. Some file
    // systems know no second names.
    let placed = written.and_then(|()| match std::fs::hard_link(&beside, path) {
        Err(_) if path.symlink_metadata().is_err() => std::fs::rename(&beside, path),
        other => other,
    });
    let ended = match placed {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(taken(&path.display().to_string())),
        other => other.map_err(failed),
    };
    // Where it was never made, or got its place, there is nothing to remove; left behind it would be the smaller
    // trouble of the two.
    let _ = std::fs::remove_file(&beside);
    ended
}

/// The exit of a run with its page written, whatever is printed besides.
///
/// # Errors
/// As [`Wanted::write`] and [`of_run`].
pub fn write_run(
    wanted: Option<&Wanted>,
    record: &RunRecord,
    summary: &Summary,
    file: Option<&Path>,
) -> Result<Exit, Failure> {
    if let Some(wanted) = wanted {
        wanted.write(&of_run(record, summary, file)?)?;
    }
    Ok(summary.verdict.result.into())
}
