//! Loading: from an entry to the bundle of everything that it imports.

mod resolve;
mod summary;

use crate::archive::Archive;
use crate::emit;
use crate::files::{Builtins, Files};
use crate::isolation::Needs;
use crate::link::Linker;
use crate::locate::{Location, normalize};
use crate::module::{Bundle, Import, Json, Module, Target};
use crate::parse::{Code, Language};
use crate::problem;
use crate::scan::{self, Scan};
use crate::text::Text;
use crate::typescript;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// What to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    Path(PathBuf),
    /// A text, such as standard input. Its name decides the language, and its imports start at the name's folder.
    Text { name: PathBuf, text: String },
    /// The bytes of a k6 archive. Its files come from the archive alone.
    Archive(Vec<u8>),
}

/// One module while it is loaded.
#[derive(Debug)]
pub struct Node {
    pub location: Location,
    pub text: Text,
    pub code: Code,
    pub scan: Scan,
    /// For each request of the scan.
    pub targets: Vec<Target>,
    pub is_typescript: bool,
}

/// Loads an entry and everything that it imports.
///
/// # Errors
/// Returns every mistake with its place: files that cannot be read, syntax errors, imports that lead nowhere, and
/// everything that is not supported.
pub fn load(entry: Entry, files: &dyn Files, builtins: &dyn Builtins) -> Result<Bundle, Vec<Diagnostic>> {
    match entry {
        Entry::Path(path) => {
            let location = Location::File(normalize(&path));
            let shown = location.display();
            let bytes = files.read(&path).map_err(|error| vec![unreadable(&shown, &error, Place::Whole)])?;
            Loader::new(files, builtins, &location).run(location, bytes)
        }
        Entry::Text { name, text } => {
            let location = Location::File(normalize(&name));
            Loader::new(files, builtins, &location).run(location, text.into_bytes())
        }
        Entry::Archive(bytes) => {
            let archive = Archive::read(&bytes)?;
            let (location, main) = archive.entry().map_err(|one| vec![one])?;
            let mut bundle = Loader::new(&archive, builtins, &location).run(location, main)?;
            bundle.archive = Some(archive);
            Ok(bundle)
        }
    }
}

/// Where a location has led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loaded {
    Module(usize),
    Json(usize),
    /// It has mistakes, which are reported once.
    Invalid,
}

struct Loader<'l> {
    files: &'l dyn Files,
    builtins: &'l dyn Builtins,
    /// The folder of the entry, to which names are relative.
    folder: PathBuf,
    known: HashMap<(Location, bool), Loaded>,
    nodes: Vec<Node>,
    json: Vec<Json>,
    wrong: Vec<Diagnostic>,
}

impl<'l> Loader<'l> {
    fn new(files: &'l dyn Files, builtins: &'l dyn Builtins, entry: &Location) -> Self {
        let folder = match entry {
            Location::File(path) => path.parent().unwrap_or(Path::new("")).to_owned(),
            Location::Remote(_) => PathBuf::new(),
        };
        let (known, nodes, json, wrong) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
        Self { files, builtins, folder, known, nodes, json, wrong }
    }

    fn run(mut self, entry: Location, bytes: Vec<u8>) -> Result<Bundle, Vec<Diagnostic>> {
        self.module(entry, bytes);
        let mut next = 0;
        while next < self.nodes.len() {
            self.resolve_requests(next);
            next += 1;
        }
        if !self.wrong.is_empty() {
            return Err(self.wrong);
        }
        let linker = Linker::new(&self.nodes);
        let wrong = linker.check();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let modules = (0..self.nodes.len()).map(|module| self.finish(&linker, module)).collect();
        let (needs, usage) = summary::of(&linker);
        let Needs { isolation, asynchronous } = needs;
        Ok(Bundle { modules, entry: 0, json: self.json, isolation, asynchronous, usage, archive: None })
    }

    /// Reads the text of a module and scans it.
    fn module(&mut self, location: Location, bytes: Vec<u8>) -> Loaded {
        let file = location.display();
        let scanned = text(&file, &bytes).and_then(|text| with_deep_stack(&location, text));
        let loaded = match scanned {
            Ok((node, mut wrong)) => {
                self.wrong.append(&mut wrong);
                self.nodes.push(node);
                Loaded::Module(self.nodes.len() - 1)
            }
            Err(mut wrong) => {
                self.wrong.append(&mut wrong);
                Loaded::Invalid
            }
        };
        self.known.insert((location, false), loaded);
        loaded
    }

    fn finish(&self, linker: &Linker<'_>, module: usize) -> Module {
        let node = &self.nodes[module];
        let (factory, map) = emit::factory(linker, module);
        let imports = node.scan.requests.iter().zip(&node.targets).map(|(request, target)| Import {
            specifier: request.specifier.clone(),
            place: node.text.place(request.at),
            target: target.clone(),
        });
        Module {
            name: node.location.name(&self.folder),
            path: PathBuf::from(node.location.display()),
            format: node.scan.format(),
            is_async: linker.is_async(module),
            factory,
            imports: imports.collect(),
            exports: linker.names(module).into_iter().collect(),
            text: node.text.clone(),
            map,
        }
    }
}

/// A module, and everything in it that is not supported.
type Scanned = Result<(Node, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Scans a module on a thread whose stack fits its nesting: a syntax tree is visited by recursion, and generated code
/// may be nested more deeply than the stack of a caller allows. Only the pages that are used take memory.
fn with_deep_stack(location: &Location, text: Text) -> Scanned {
    let stack_bytes = (64 << 20) + (text.source.len() << 10).min(960 << 20);
    let file = text.file.clone();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack_bytes);
        let joined =
            thread.spawn_scoped(scope, || scanned(location, text)).map(std::thread::ScopedJoinHandle::join);
        match joined {
            Ok(Ok(scanned)) => scanned,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(vec![unreadable(&file, &error, Place::Whole)]),
        }
    })
}

fn scanned(location: &Location, text: Text) -> Scanned {
    let language = Language::of(&location.extension());
    let code = match language {
        Language::Jsx => {
            let (message, hint) = problem::JSX;
            return Err(vec![problem::at(problem::UNSUPPORTED, text.place(0), message, hint)]);
        }
        Language::TypeScript => typescript::strip(&text)?,
        _ => Code { text: text.source.clone(), tokens: Vec::new(), language },
    };
    let (scan, wrong) = scan::scan(&code, &text)?;
    let is_typescript = language == Language::TypeScript;
    Ok((Node { location: location.clone(), text, code, scan, targets: Vec::new(), is_typescript }, wrong))
}

/// The longest source that is read.
const LONGEST_BYTES: usize = 64 << 20;

fn text(file: &str, bytes: &[u8]) -> Result<Text, Vec<Diagnostic>> {
    let whole =
        |message: String, hint: &str| vec![problem::at(problem::UNREADABLE, Place::Whole, message, hint)];
    if bytes.len() > LONGEST_BYTES {
        let message = format!("`{file}` is larger than {} MiB", LONGEST_BYTES >> 20);
        return Err(whole(message, "read large data with `open` instead of importing it"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Text::new(file.to_owned(), text)),
        Err(error) => {
            let at = error.valid_up_to();
            let before = Text::new(file.to_owned(), &String::from_utf8_lossy(&bytes[..at]));
            let message = format!("invalid UTF-8 byte {:#04x}", bytes[at]);
            let place = before.place(before.source.len() as u32);
            Err(vec![problem::at(problem::UNREADABLE, place, message, "save the file as UTF-8")])
        }
    }
}

fn unreadable(file: &str, error: &io::Error, place: Place) -> Diagnostic {
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => (format!("no such file: `{file}`"), "check the path"),
        io::ErrorKind::IsADirectory => (format!("`{file}` is a directory"), "name a file in it"),
        _ => {
            let reason = error.to_string();
            let reason = reason.split(" (os error").next().unwrap_or_default().to_lowercase();
            (format!("cannot read `{file}`: {reason}"), "make it readable for this user")
        }
    };
    problem::at(problem::UNREADABLE, place, message, hint)
}
