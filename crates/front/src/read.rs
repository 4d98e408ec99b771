//! From a path to a draft: what it holds, and the reader for that.

use crate::body::{content, lower};
use crate::detect::{Kind, detect};
use crate::located::{Located, Part, Study};
use crate::overrides::Overrides;
use crate::own;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// No experiment file is longer; a device that never ends must not fill the memory.
const LONGEST_BYTES: u64 = 16 << 20;

const WHAT_RUNS: &str = "run an experiment file (`.yaml`), a URL, or a pasted line behind `plimsoll curl`";

/// As [`read_with`], with nothing set and the environment of this process.
///
/// # Errors
/// As [`read_with`].
pub fn read(path: &Path) -> Result<Located, Vec<Diagnostic>> {
    read_with(path, &Overrides::default())
}

/// Reads a file of one run.
///
/// # Errors
/// As [`study_with`]; and which key asks for more than one run, where one does.
pub fn read_with(path: &Path, given: &Overrides) -> Result<Located, Vec<Diagnostic>> {
    let text = text_of(path)?;
    own::parse_with(&text, &path.display().to_string(), folder(path), given)
}

/// Reads an experiment of one or more cells from a file. `--set` keeps one value of an axis.
///
/// # Errors
/// Every mistake found, or one saying that the file cannot be read or is of a kind that cannot be run yet.
pub fn study_with(path: &Path, given: &Overrides) -> Result<Study, Vec<Diagnostic>> {
    let text = text_of(path)?;
    own::study(&text, &path.display().to_string(), folder(path), given)
}

/// Reads all experiments of a file, or those of these names: one for each entry of its `parts`, or one without a name.
///
/// # Errors
/// As [`study_with`], those of all parts at once, and each name that no part has.
pub fn parts_with(path: &Path, given: &Overrides, only: &[String]) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let text = text_of(path)?;
    own::parts(&text, &path.display().to_string(), folder(path), given, only)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The text of a list of URLs.
///
/// # Errors
/// One saying that it cannot be read, or is not text.
pub fn listed(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    if bytes.len() as u64 > LONGEST_BYTES {
        let message = format!("`{file}` is longer than {} MiB", LONGEST_BYTES >> 20);
        return Err(vec![Diagnostic::new("F001", Place::Whole, message, "split it into several runs")]);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        vec![not_utf8(&file, &error.into_bytes(), at)]
    })
}

/// No more than a file may have, and one byte as a sign that there are more.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let file = path.display().to_string();
    content(path, LONGEST_BYTES).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "check the name and the folder",
            std::io::ErrorKind::IsADirectory => "name a file in it",
            std::io::ErrorKind::InvalidInput => {
                "name a regular file, and move large bodies into files of their own: `body_file: name`"
            }
            _ => "make it readable for this user",
        };
        let message = format!("`{file}` cannot be read: {}", lower(&error));
        vec![Diagnostic::new("F001", Place::Whole, message, hint)]
    })
}

/// The text of an experiment file.
fn text_of(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let whole = |code, message: String, hint: &str| vec![Diagnostic::new(code, Place::Whole, message, hint)];
    if path.extension().is_some_and(|e| e == "plim") {
        return Err(whole(
            "F003",
            format!("`{file}` is a run file: the result of a run, no experiment"),
            "read it with `plimsoll report`",
        ));
    }

    let bytes = bytes_of(path)?;
    let text = std::str::from_utf8(&bytes);

    match detect(path, text.ok()) {
        Kind::NotYet(name) => {
            let article = if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
            Err(whole("F002", format!("`{file}` is {article} {name}, which cannot be run yet"), WHAT_RUNS))
        }
        Kind::Unknown => Err(whole("F003", format!("`{file}` is nothing that can be run"), WHAT_RUNS)),
        Kind::Own => {
            text.map(str::to_owned).map_err(|error| vec![not_utf8(&file, &bytes, error.valid_up_to())])
        }
    }
}

fn not_utf8(file: &str, bytes: &[u8], at: usize) -> Diagnostic {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let (line, excerpt) = before.split('\n').enumerate().last().unwrap_or((0, ""));
    let place = Place::Text {
        file: file.to_owned(),
        line: line as u32 + 1,
        column: excerpt.chars().count() as u32 + 1,
        excerpt: excerpt.to_owned(),
    };
    Diagnostic::new(
        "F010",
        place,
        format!("the byte {:#04x} is no UTF-8", bytes[at]),
        "save the file as UTF-8",
    )
}
