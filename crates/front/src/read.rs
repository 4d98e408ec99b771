//! Reads a file: detects its format and calls the reader for it.

use crate::detect::{Kind, detect, rewrite_hint};
use crate::located::{Located, Part, Study};
use crate::overrides::Overrides;
use crate::own;
use plimsoll_build::body::{content, lower};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// Longest experiment file, so that an endless device does not fill the memory.
const LONGEST_BYTES: u64 = 16 << 20;

const WHAT_RUNS: &str = "run an experiment file (`.yaml`), a URL, or a pasted line with `plimsoll curl`";

/// Reads a file as [`read_with`] does, without overrides and with the environment of this process.
///
/// # Errors
/// Returns an error if [`read_with`] does.
pub fn read(path: &Path) -> Result<Located, Vec<Diagnostic>> {
    read_with(path, &Overrides::default())
}

/// Reads a file of one run.
///
/// # Errors
/// Returns an error if [`study_with`] does, or if a key makes more than one run.
pub fn read_with(path: &Path, given: &Overrides) -> Result<Located, Vec<Diagnostic>> {
    let text = text_of(path)?;
    own::parse_with(&text, &path.display().to_string(), folder(path), given)
}

/// Reads an experiment of one or more cells from a file. `--set` keeps one value of an axis.
///
/// # Errors
/// Returns every mistake found, or one error if the file cannot be read or its format is not supported.
pub fn study_with(path: &Path, given: &Overrides) -> Result<Study, Vec<Diagnostic>> {
    let text = text_of(path)?;
    own::study(&text, &path.display().to_string(), folder(path), given)
}

/// Reads all experiments of a file, or those with the names in `only`: one for each entry of its `parts`, or one
/// without a name.
///
/// # Errors
/// Returns the errors of [`study_with`] for all parts at once, and each name that no part has.
pub fn parts_with(path: &Path, given: &Overrides, only: &[String]) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let text = text_of(path)?;
    own::parts(&text, &path.display().to_string(), folder(path), given, only)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns the text of a list of URLs.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not text.
pub fn listed(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    if bytes.len() as u64 > LONGEST_BYTES {
        let message = format!("`{file}` is larger than {} MiB", LONGEST_BYTES >> 20);
        return Err(vec![Diagnostic::new("F001", Place::Whole, message, "split it into several files")]);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        vec![not_utf8(&file, &error.into_bytes(), at)]
    })
}

/// Returns the bytes of a file of at most [`LONGEST_BYTES`].
fn bytes_of(path: &Path) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let file = path.display().to_string();
    content(path, LONGEST_BYTES).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::IsADirectory => "name a file in it",
            std::io::ErrorKind::InvalidInput => {
                "name a regular file, and move large bodies into separate files: `body_file: name`"
            }
            _ => "make it readable for this user",
        };
        let message = format!("cannot read `{file}`: {}", lower(&error));
        vec![Diagnostic::new("F001", Place::Whole, message, hint)]
    })
}

/// Returns the text of an experiment file.
fn text_of(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let whole =
        |code, message: String, hint: String| vec![Diagnostic::new(code, Place::Whole, message, hint)];
    if path.extension().is_some_and(|e| e == "plim") {
        return Err(whole(
            "F003",
            format!("`{file}` is a run file, not an experiment"),
            format!("show the run with `plimsoll report {file}`"),
        ));
    }

    let bytes = bytes_of(path)?;
    let text = std::str::from_utf8(&bytes);

    match detect(path, text.ok()) {
        Kind::NotYet(name) => {
            let article = if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
            let message = format!("`{file}` is {article} {name}, which plimsoll cannot run yet");
            Err(whole("F002", message, rewrite_hint(name).unwrap_or_else(|| WHAT_RUNS.to_owned())))
        }
        Kind::Script => Err(whole(
            "F002",
            format!("`{file}` is a k6 script, and only `run`, `check`, and `k6` accept scripts"),
            format!("run it with `plimsoll run {file}`; `find` and `compare` need an experiment file"),
        )),
        Kind::TestPlan => Err(whole(
            "F002",
            format!("`{file}` is a test plan of JMeter, and only `run`, `check`, and `jmeter` accept plans"),
            format!("run it with `plimsoll run {file}`; the name must end with `.jmx`"),
        )),
        Kind::Unknown => Err(whole("F003", format!("unknown format of `{file}`"), WHAT_RUNS.to_owned())),
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
    Diagnostic::new("F010", place, format!("invalid UTF-8 byte {:#04x}", bytes[at]), "save the file as UTF-8")
}
