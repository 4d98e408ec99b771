//! `plimsoll report X --template FILE`: a result in the form that its readers are used to.

use super::memory;
use crate::exit::Failure;
use plimsoll_chart::{Chart, Skin};
use plimsoll_output::template::{self, Picture, Problem};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A template of this size is a mistake, such as a run file.
const BYTES_MAX: u64 = 1_000_000;

/// Bytes that a template may keep while it is filled in: some times of what it may write.
const MEMORY_MAX: u64 = 512_000_000;

/// Of the thread that reads it: every sign of a long expression is a call in a call. More than the bound above, which
/// so comes first and has a sentence. The kernel gives only what is touched.
const STACK_BYTES: usize = 1 << 30;

/// The text that the template in `file` makes of a result. `kind` is the word for what it is the result of (`run`,
/// `search`), `document` what `--json` prints of it.
///
/// # Errors
/// When the template cannot be read, is none, or names what is not there.
pub fn rendered(file: &str, kind: &str, document: &str, charts: &[Chart]) -> Result<String, Failure> {
    let path = Path::new(file);
    let source = read(path).map_err(|why| {
        Failure::machine(
            format!("the template `{file}` cannot be read: {why}"),
            Some("name a text file; examples lie in `examples/templates`".into()),
        )
    })?;
    let wrong = |e: serde_json::Error| Failure::machine(format!("the result is no JSON: {e}"), None);
    let document: Value = serde_json::from_str(document).map_err(wrong)?;
    let name = path.file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
    // Whoever shares a template shares a folder: nothing outside of it is read, whatever the template says.
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

/// Does `work` on a thread with [`STACK_BYTES`].
fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let cannot = |why: String| Failure::machine(format!("the template cannot be filled in: {why}"), None);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("template".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).map_err(|e| cannot(e.to_string()))?;
        thread.join().map_err(|_| cannot("its reader gave up".into()))
    })
}

fn read(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|e| e.to_string().to_lowercase())?;
    if !about.is_file() {
        return Err("it is no file".into());
    }
    if about.len() > BYTES_MAX {
        return Err(format!("it has {} bytes, and a template has a few thousand", about.len()));
    }
    let bytes = std::fs::read(path).map_err(|e| e.to_string().to_lowercase())?;
    String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".into())
}

/// The file of this name below the folder; links that lead out of it lead nowhere.
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
    let problem = "the template keeps more than 512 MB of texts of its own";
    Diagnostic::new("U048", Place::Flag("--template".into()), problem, "look for a text that doubles").into()
}
