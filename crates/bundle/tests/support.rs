//! Files in memory, an engine that knows the modules of k6, and short forms of what loading returns.

use plimsoll_bundle::{Builtin, Builtins, Bundle, Entry, Files, Isolation, load};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Files by their paths.
pub struct Memory(pub HashMap<PathBuf, Vec<u8>>);

impl Memory {
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect())
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// An engine with all modules of k6 but `k6/browser` and `k6/x/…`.
pub struct Engine;

impl Builtins for Engine {
    fn resolve(&self, specifier: &str) -> Builtin {
        match specifier {
            "k6/browser" => Builtin::Refused(Problem::new("`k6/browser` is not supported", "use `k6/http`")),
            "k6"
            | "k6/http"
            | "k6/metrics"
            | "k6/execution"
            | "k6/data"
            | "k6/timers"
            | "k6/net/grpc"
            | "k6/experimental/redis" => Builtin::Known(specifier.into()),
            _ if specifier.starts_with("https://jslib.k6.io/k6-utils/") => Builtin::Known("k6-utils".into()),
            _ => Builtin::Unknown,
        }
    }
}

/// Loads the first of the files. Every factory must be a valid script.
pub fn try_bundle(files: &[(&str, &str)]) -> Result<Bundle, Vec<Diagnostic>> {
    let bundle = load(Entry::Path(files[0].0.into()), &Memory::of(files), &Engine)?;
    for module in &bundle.modules {
        let entry = Entry::Text { name: "factory.cjs".into(), text: module.factory.clone() };
        if let Err(wrong) = load(entry, &Memory::of(&[]), &Engine) {
            panic!("{wrong:?}\n{}", module.factory);
        }
    }
    Ok(bundle)
}

pub fn bundle(files: &[(&str, &str)]) -> Bundle {
    try_bundle(files).unwrap_or_else(|wrong| panic!("{}", describe(&wrong)))
}

/// Loads one module of JavaScript.
pub fn single(text: &str) -> Bundle {
    bundle(&[("main.js", text)])
}

/// Loads a main module next to `lib.js`, and returns the factory of the main module.
pub fn factory_with(lib: &str, main: &str) -> String {
    bundle(&[("main.js", main), ("lib.js", lib)]).modules[0].factory.clone()
}

/// Returns the diagnostics as `CODE file:line:column message; hint`, one per line.
pub fn describe(wrong: &[Diagnostic]) -> String {
    let lines = wrong.iter().map(|one| {
        let hint = if one.hint.is_empty() { String::new() } else { format!("; {}", one.hint) };
        format!("{} {} {}{hint}", one.code, at(&one.place), one.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub fn at(place: &Place) -> String {
    match place {
        Place::Text { file, line, column, .. } => format!("{file}:{line}:{column}"),
        other => format!("{other:?}"),
    }
}

/// Returns the class of a bundle with the place of its reason: `S`, `C main.js:1:1 why`.
pub fn class(bundle: &Bundle) -> String {
    match &bundle.isolation {
        Isolation::Shared => "S".into(),
        Isolation::Context(reason) => format!("C {} {}", at(&reason.place), reason.why),
        Isolation::Runtime(reason) => format!("R {} {}", at(&reason.place), reason.why),
    }
}

/// Takes a factory apart: what precedes its code, and what follows it. ES modules only.
pub fn frame(factory: &str) -> (String, String, String) {
    let rest = factory.split_once("{'use strict';").expect("an ES module").1;
    let (inner, after) = rest.rsplit_once("\n;").expect("an end");
    let after = after.strip_suffix("})").expect("a parenthesis").trim().to_owned();
    let start = inner.find("/*code*/").map_or(0, |at| at + "/*code*/".len());
    (inner[..start].trim_end_matches("/*code*/").trim().to_owned(), inner[start..].to_owned(), after)
}
