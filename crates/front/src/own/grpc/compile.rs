//! Compiles `.proto` files, and reads compiled schemas. A mistake in a `.proto` file has its place there.

use crate::own::reader::Reader;
use miette::Diagnostic as _;
use plimsoll_build::source::{Complaint, Pos, Source};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use prost_reflect::DescriptorPool;
use protox::file::{File, FileResolver, GoogleFileResolver};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Reads a file.
pub type ReadSource = dyn Fn(&Path) -> Result<Vec<u8>, String> + Send + Sync;

/// The result of compiling all schemas.
pub struct Compiled {
    pub pool: DescriptorPool,
    /// All of them are in it.
    pub is_whole: bool,
}

/// Finds the files of imports.
struct Folders {
    all: Vec<PathBuf>,
    /// If set, files outside these directories are not read.
    keep_to: Option<Vec<PathBuf>>,
}

impl Folders {
    /// Returns the path of a file by the name that an import has.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.all.iter().map(|folder| folder.join(name)).find(|path| path.is_file())?;
        let Some(within) = &self.keep_to else { return Some(path) };
        let whole = path.canonicalize().ok()?;
        within.iter().any(|folder| whole.starts_with(folder)).then_some(path)
    }
}

impl FileResolver for Folders {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.find(name) {
            Some(path) => {
                plimsoll_plan::inputs::note(&path);
                File::open(name, &path)
            }
            None => GoogleFileResolver::new().open_file(name),
        }
    }
}

/// Compiles and reads all schemas. Imports are looked up in `folders`, then in the directory of the experiment, and
/// then in those of the files themselves.
pub fn all(
    protos: &[(String, PathBuf, Pos)],
    sets: &[(String, PathBuf, Pos)],
    mut folders: Vec<PathBuf>,
    r: &mut Reader<'_>,
) -> Compiled {
    let mut is_whole = true;
    folders.push(r.folder.to_owned());
    folders.extend(protos.iter().filter_map(|(_, path, _)| path.parent().map(Path::to_owned)));
    let resolver = || Folders { all: folders.clone(), keep_to: r.keep_to.map(<[PathBuf]>::to_vec) };
    let finder = resolver();
    let mut compiler = protox::Compiler::with_file_resolver(resolver());
    let mut wrong = Vec::new();
    for (name, path, pos) in protos {
        let shown = name_within(&folders, path);
        if !path.is_file() {
            wrong.push(Err(Complaint::new(
                "F041",
                *pos,
                format!("no such file: `{name}`"),
                "name a `.proto` file, relative to the directory of the experiment",
            )));
        } else if let Some(other) = finder.find(&shown).filter(|found| !is_same(found, path)) {
            let message = format!("`{name}` is hidden by `{}`, which has the same name", other.display());
            let hint = "name the directory that imports start from with `import_paths`";
            wrong.push(Err(Complaint::new("F041", *pos, message, hint)));
        } else if let Err(error) = compiler.open_file(&shown) {
            wrong.push(located(&error, &finder, *pos));
        }
    }
    let mut pool = compiler.descriptor_pool();
    for (name, path, pos) in sets {
        plimsoll_plan::inputs::note(path);
        let read = std::fs::read(path).map_err(|error| error.to_string());
        let added = read
            .and_then(|bytes| pool.decode_file_descriptor_set(&bytes[..]).map_err(|error| error.to_string()));
        if let Err(error) = added {
            let message = format!("invalid compiled schema `{name}`: {error}");
            let hint = "write it with `protoc --include_imports --descriptor_set_out FILE`";
            wrong.push(Err(Complaint::new("F041", *pos, message, hint)));
        }
    }
    for one in wrong {
        is_whole = false;
        match one {
            Ok(diagnostic) => r.wrong.push(diagnostic),
            Err(complaint) => r.take(complaint),
        }
    }
    Compiled { pool, is_whole }
}

/// Compiles `.proto` files alone, by their names on a command line.
///
/// # Errors
/// Returns every mistake, with its place in a `.proto` file if it has one.
pub fn of_files(files: &[String], folders: &[String]) -> Result<DescriptorPool, Vec<Diagnostic>> {
    let mut all: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    let parents = files.iter().filter_map(|name| Path::new(name).parent().map(Path::to_owned));
    all.extend(parents);
    let resolver = || Folders { all: all.clone(), keep_to: None };
    let finder = resolver();
    let mut compiler = protox::Compiler::with_file_resolver(resolver());
    let mut wrong = Vec::new();
    for name in files {
        let shown = name_within(&all, Path::new(name));
        if let Err(error) = compiler.open_file(&shown) {
            wrong.push(located(&error, &finder, Pos { line: 1, column: 1 }).unwrap_or_else(|complaint| {
                let place = Place::Flag("--proto".to_owned());
                Diagnostic::new("F041", place, complaint.message, complaint.hint)
            }));
        }
    }
    if wrong.is_empty() { Ok(compiler.descriptor_pool()) } else { Err(wrong) }
}

/// Files that a function reads, such as those of an archive.
struct Sources {
    folders: Vec<PathBuf>,
    read: Arc<ReadSource>,
}

impl Sources {
    fn text_of(&self, name: &str) -> Option<String> {
        let bytes = self.folders.iter().find_map(|folder| (self.read)(&folder.join(name)).ok())?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl FileResolver for Sources {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.text_of(name) {
            Some(text) => File::from_source(name, &text),
            None => GoogleFileResolver::new().open_file(name),
        }
    }
}

/// Compiles `.proto` files that `read` reads, by their names below one of the folders, as imports have them.
///
/// # Errors
/// Returns the first mistake in one line, with its place.
pub fn of_sources(
    names: &[String],
    folders: &[PathBuf],
    read: &Arc<ReadSource>,
) -> Result<DescriptorPool, String> {
    let sources = || Sources { folders: folders.to_vec(), read: Arc::clone(read) };
    let mut compiler = protox::Compiler::with_file_resolver(sources());
    for name in names {
        compiler.open_file(name).map_err(|error| {
            let message = error.to_string().replace('\'', "`");
            let place = error.file().and_then(|file| {
                let offset = error.labels()?.next()?.offset();
                let (line, column) = line_and_column(&sources().text_of(file)?, offset)?;
                Some(format!("{file}:{line}:{column}: "))
            });
            format!("{}{message}", place.unwrap_or_default())
        })?;
    }
    Ok(compiler.descriptor_pool())
}

/// Returns the name of a file: the one by which other files may import it, too. Such a name is below one of the
/// directories, and contains no `..`.
fn name_within(folders: &[PathBuf], path: &Path) -> String {
    let is_below = |rest: &&Path| rest.components().all(|part| matches!(part, Component::Normal(_)));
    let own = folders.iter().filter_map(|folder| path.strip_prefix(folder).ok()).find(is_below);
    own.unwrap_or(path).to_string_lossy().into_owned()
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Returns a mistake at its place in a `.proto` file, or in the experiment if it has none.
fn located(error: &protox::Error, folders: &Folders, pos: Pos) -> Result<Diagnostic, Complaint> {
    let message = error.to_string().replace('\'', "`");
    let spot = error.file().and_then(|file| {
        let offset = error.labels()?.next()?.offset();
        let path = folders.find(file)?;
        let text = std::fs::read_to_string(&path).ok()?;
        let (line, column) = line_and_column(&text, offset)?;
        Some((path, text, line, column))
    });
    match spot {
        Some((path, text, line, column)) => {
            let file = path.display().to_string();
            let place: Place = Source::new(&text, &file).place(Pos { line, column });
            Ok(Diagnostic::new("F041", place, message, hint(error)))
        }
        None => Err(Complaint::new("F041", pos, message, hint(error))),
    }
}

fn hint(error: &protox::Error) -> &'static str {
    if error.is_file_not_found() {
        "name the directory that imports start from with `import_paths`"
    } else {
        "fix the schema"
    }
}

fn line_and_column(text: &str, offset: usize) -> Option<(u32, u32)> {
    let before = text.get(..offset)?;
    let line = before.matches('\n').count() as u32 + 1;
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    Some((line, before[begin..].chars().count() as u32 + 1))
}
