//! `plimsoll report X --template FILE`: a result in a format of the user's choice.

use super::memory;
use crate::exit::Failure;
use plimsoll_chart::{Chart, Skin};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_template::{self as template, Picture, Problem};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Maximum size of a template; a larger file is a mistake, such as a run file.
const BYTES_MAX: u64 = 1_000_000;

/// Memory in bytes that a template may use while it is filled in, several times what it may write.
const MEMORY_MAX: u64 = 512_000_000;

/// Stack size of the thread that parses a template, because every operator of a long expression nests a call. The
/// limit above is reached first and has an error message. The kernel provides only what is touched.
const STACK_BYTES: usize = 1 << 30;

/// Returns the text that the template in `file` produces from a result. `kind` names the result (`run`, `search`),
/// and `document` is its JSON.
///
/// # Errors
/// Returns an error if the template cannot be read, is invalid, or uses an unknown name.
pub fn rendered(file: &str, kind: &str, document: &str, charts: &[Chart]) -> Result<String, Failure> {
    let path = Path::new(file);
    let source = read(path).map_err(|why| {
        Failure::machine(
            format!("cannot read template `{file}`: {why}"),
            Some("name a text file; `examples/templates` has examples".into()),
        )
    })?;
    let wrong =
        |e: serde_json::Error| Failure::machine(format!("cannot write the result as JSON: {e}"), None);
    let document: Value = serde_json::from_str(document).map_err(wrong)?;
    let name = path.file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
    // A template may include only files of its directory, because that is what its author shared.
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().ok();
    let load = move |name: &str| read(&inside(folder.as_deref()?, name)?).ok();
    let picture = |chart: &Chart| Picture {
        id: chart.id.clone(),
        title: chart.title.clone(),
        subtitle: chart.subtitle.clone(),
        svg: plimsoll_chart::draw(chart, Skin::File),
    };
    let pictures = charts.iter().map(picture).collect();
    let fill = || template::render(&name, &source, kind, &document, pictures, load);
    memory::bounded(MEMORY_MAX, too_large, || deep(fill))?.map_err(describe)
}

/// Runs `work` on a thread with a stack of [`STACK_BYTES`].
fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let cannot = |why: String| Failure::machine(format!("cannot fill in the template: {why}"), None);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("template".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).map_err(|e| cannot(e.to_string()))?;
        thread.join().map_err(|_| cannot("the thread panicked".into()))
    })
}

fn read(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|e| e.to_string().to_lowercase())?;
    if !about.is_file() {
        return Err("not a file".into());
    }
    if about.len() > BYTES_MAX {
        return Err(format!("{} bytes are too many for a template", about.len()));
    }
    let bytes = std::fs::read(path).map_err(|e| e.to_string().to_lowercase())?;
    String::from_utf8(bytes).map_err(|_| "not UTF-8 text".into())
}

/// Returns the file of this name below the folder; links that leave the folder are ignored.
fn inside(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name).canonicalize().ok()?;
    path.starts_with(folder).then_some(path)
}

fn describe(problem: Problem) -> Failure {
    let place = problem.place.map_or(Place::Flag("--template".into()), |at| Place::Text {
        file: at.file,
        line: at.line,
        column: at.column,
        excerpt: at.excerpt,
    });
    Diagnostic::new("U048", place, problem.sentence, problem.hint).into()
}

fn too_large() -> Failure {
    let problem = "the template needs more than 512 MB of memory";
    Diagnostic::new(
        "U048",
        Place::Flag("--template".into()),
        problem,
        "check for text that doubles in a loop",
    )
    .into()
}
