//! HTML page of a folder: an experiment, a search, or several experiments of one file.

use super::{folder_report, parts_report};
use crate::exit::Failure;
use plimsoll_experiment::folder::{self, Run};
use plimsoll_output::experiment::{RunFile, page};
use plimsoll_output::figure;
use plimsoll_output::html::Page;
use std::path::Path;

/// Target of a link to a run file, if it has one.
pub type Links<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Returns the page; `to` is its future file, for relative links.
///
/// # Errors
/// Returns an error under the conditions of [`linked`].
pub fn of(path: &Path, to: Option<&Path>) -> Result<Page, Failure> {
    linked(path, &|run| to.and_then(|to| href(to, run)))
}

/// Returns the page with the given links.
///
/// # Errors
/// Returns an error if the folder cannot be read or contains no run of an experiment.
pub fn linked(path: &Path, links: Links) -> Result<Page, Failure> {
    // An unreadable part has no files; its row says why.
    let of_part = |part: &Path| folder::read(part).map(|read| files(&read.runs, links)).unwrap_or_default();
    if let Some(page) = parts_report::page_of(path, &of_part)? {
        return Ok(page);
    }
    let conclusion = folder_report::concluded(path)?;
    let files = files(&folder::read(path)?.runs, links);
    let text = folder_report::document(&conclusion)?;
    let wrong =
        |e: serde_json::Error| Failure::machine(format!("cannot write the result as JSON: {e}"), None);
    let document = serde_json::from_str(&text).map_err(wrong)?;
    let charts = figure::of_conclusion(&conclusion);
    Ok(page(&conclusion, &files, charts, document))
}

/// Returns the run files in the order in which they ran.
fn files(runs: &[Run], links: Links) -> Vec<RunFile> {
    let mut all: Vec<&Run> = runs.iter().collect();
    all.sort_by_key(|run| run.digest.started_unix_ns);
    let file = |run: &Run| {
        let cell = run.digest.cell.as_ref();
        RunFile {
            settings: cell.map(|cell| cell.settings.clone()).unwrap_or_default(),
            repeat: cell.map_or(0, |cell| cell.repeat),
            name: run.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            href: links(&run.path),
        }
    };
    all.into_iter().map(file).collect()
}

/// Returns a relative link from the page to a file near it, so that a shared page contains no paths of this machine.
fn href(to: &Path, run: &Path) -> Option<String> {
    let beside = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let run = run.canonicalize().ok()?;
    let below = run.strip_prefix(beside.canonicalize().ok()?).ok()?;
    Some(format!("./{}", escaped(below.to_str()?)))
}

/// Percent-encodes what has a meaning in links.
fn escaped(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let describe = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(describe).collect()
}
