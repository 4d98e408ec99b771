//! `--html FILE`: the result as one HTML file. The path is checked before anything else happens. The file is written
//! under a temporary name and then put in place, so that a reader never opens half a page.

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

/// Checked destination of a page.
pub enum Wanted {
    /// Standard output, in place of the text.
    Result,
    /// A file that does not exist yet.
    File(PathBuf),
}

impl Wanted {
    /// Returns the destination that the flag names. `form` is the flag of another format for standard output
    /// (`--json`), if there is one.
    ///
    /// # Errors
    /// Returns an error if the file exists, or if two results would share standard output.
    pub fn of(flag: &PageFlag, form: Option<&str>) -> Result<Option<Wanted>, Failure> {
        let Some(to) = &flag.html else { return Ok(None) };
        let place = || Place::Flag("--html".into());
        if to == "-" {
            return match form {
                None => Ok(Some(Wanted::Result)),
                Some(form) => {
                    let message = format!("`--html -` and `{form}` both go to standard output");
                    Err(Diagnostic::new(
                        "U038",
                        place(),
                        message,
                        "write the page to a file with `--html page.html`",
                    )
                    .into())
                }
            };
        }
        // A dangling link counts as existing, too.
        if Path::new(to).symlink_metadata().is_ok() {
            return Err(taken("--html", to));
        }
        Ok(Some(Wanted::File(PathBuf::from(to))))
    }

    /// Returns whether the page replaces the text.
    pub fn is_result(&self) -> bool {
        matches!(self, Wanted::Result)
    }

    /// Returns the file, or `None` for standard output.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Wanted::Result => None,
            Wanted::File(path) => Some(path),
        }
    }

    /// Writes the page to its destination.
    ///
    /// # Errors
    /// Returns an error if the page cannot be written or the file exists by now.
    pub fn write(&self, page: &Page) -> Result<(), Failure> {
        let text = page.render()?;
        match self {
            Wanted::Result => say::result(&text),
            Wanted::File(path) => put(path, "--html", &text),
        }
    }
}

/// Returns the page of a run. `file` is its run file, if there is one; a merged run has no timelines of its requests.
///
/// # Errors
/// Returns an error if the run file cannot be read again.
pub fn of_run(record: &RunRecord, summary: &Summary, file: Option<&Path>) -> Result<Page, Failure> {
    let (picture, charts) = drawn(record, summary, file)?;
    let name = file.map(|file| file.display().to_string());
    Ok(run_page(summary, &picture, name.as_deref(), charts)?)
}

/// Returns the charts of a run, as its page shows them.
///
/// # Errors
/// Returns an error if the run file cannot be read again.
pub fn charts_of(record: &RunRecord, summary: &Summary, file: Option<&Path>) -> Result<Vec<Chart>, Failure> {
    Ok(drawn(record, summary, file)?.1)
}

/// Returns the data of the charts, and the charts.
///
/// # Errors
/// Returns an error if the run file cannot be read again.
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

fn taken(flag: &str, to: &str) -> Failure {
    let message = format!("cannot write `{to}`: it exists already");
    Diagnostic::new(
        "U020",
        Place::Flag(flag.into()),
        message,
        "choose another name, or move the existing file",
    )
    .into()
}

/// Writes a file that `flag` names completely or not at all, and never over another one.
pub fn put(path: &Path, flag: &str, text: &str) -> Result<(), Failure> {
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
    // Creating a hard link fails if the name exists, unlike renaming, which would replace it. Some file systems have
    // no hard links.
    let placed = written.and_then(|()| match std::fs::hard_link(&beside, path) {
        Err(_) if path.symlink_metadata().is_err() => std::fs::rename(&beside, path),
        other => other,
    });
    let ended = match placed {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(taken(flag, &path.display().to_string())),
        other => other.map_err(failed),
    };
    // The temporary file may not exist, and failing to remove it does little harm.
    let _ = std::fs::remove_file(&beside);
    ended
}

/// Writes the page of a run and returns the exit code.
///
/// # Errors
/// Returns an error under the conditions of [`Wanted::write`] and [`of_run`].
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
