//! From each specifier of a module to what it means.

use super::{Json, Loaded, Loader, Target, text, unreadable};
use crate::files::Builtin;
use crate::locate::{Location, Specifier};
use crate::problem;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::io;
use std::path::PathBuf;

/// One request, with everything that its diagnostics need.
struct ImportSite {
    specifier: String,
    place: Place,
    is_json: bool,
}

/// A request that leads nowhere.
enum Failure {
    /// A mistake of the request itself.
    Here(Diagnostic),
    /// A mistake in the module, which is reported already.
    There,
}

impl Loader<'_> {
    /// Finds the target of each request of a module, and loads the modules that are new.
    pub fn resolve_requests(&mut self, module: usize) {
        for request in 0..self.nodes[module].scan.requests.len() {
            let node = &self.nodes[module];
            let one = &node.scan.requests[request];
            let is_certain = one.is_certain;
            let request = ImportSite {
                specifier: one.specifier.clone(),
                place: node.text.place(one.at),
                is_json: one.is_json,
            };
            let from = node.location.clone();
            let target = match self.resolve(&from, &request) {
                Ok(target) => target,
                Err(Failure::Here(diagnostic)) if is_certain => {
                    self.wrong.push(diagnostic);
                    Target::Unavailable(String::new())
                }
                Err(Failure::Here(diagnostic)) => Target::Unavailable(diagnostic.message),
                Err(Failure::There) => Target::Unavailable(String::new()),
            };
            self.nodes[module].targets.push(target);
        }
    }

    fn resolve(&mut self, from: &Location, request: &ImportSite) -> Result<Target, Failure> {
        match from.specifier(&request.specifier) {
            Specifier::Path(location) => self.file(location, request),
            Specifier::BadFile => {
                let message = format!("invalid file address `{}`", request.specifier);
                Err(request.wrong(problem::UNREADABLE, message, "write `file:///` and an absolute path"))
            }
            Specifier::Named => self.named(request),
        }
    }

    fn named(&mut self, request: &ImportSite) -> Result<Target, Failure> {
        let specifier = request.specifier.as_str();
        match self.builtins.resolve(specifier) {
            Builtin::Known(name) => return Ok(Target::Builtin(name)),
            Builtin::Refused(problem) => {
                return Err(Failure::Here(Diagnostic::of(problem::BUILTIN, request.place.clone(), problem)));
            }
            Builtin::Unknown => {}
        }
        if specifier.starts_with("https://") || specifier.starts_with("http://") {
            return self.file(Location::Remote(specifier.to_owned()), request);
        }
        if specifier == "k6" || specifier.starts_with("k6/") {
            let message = format!("unknown built-in module `{specifier}`");
            return Err(request.wrong(problem::BUILTIN, message, "check its name"));
        }
        let package = format!("`{specifier}` is a package, and packages are not installed for a script");
        let hint = "bundle it with the script (esbuild, Rollup, webpack), or import a file: `./name.js`";
        Err(request.wrong(problem::PACKAGE, package, hint))
    }

    /// Loads a file or an address once.
    fn file(&mut self, location: Location, request: &ImportSite) -> Result<Target, Failure> {
        let is_json = request.is_json || location.extension() == "json";
        let loaded = match self.known.get(&(location.clone(), is_json)) {
            Some(loaded) => *loaded,
            None => {
                let bytes = self.read(&location, request)?;
                if is_json { self.json(location, &bytes) } else { self.module(location, bytes) }
            }
        };
        match loaded {
            Loaded::Module(module) => Ok(Target::Module(module)),
            Loaded::Json(json) => Ok(Target::Json(json)),
            Loaded::Invalid => Err(Failure::There),
        }
    }

    fn read(&self, location: &Location, request: &ImportSite) -> Result<Vec<u8>, Failure> {
        let failed = |error: io::Error| {
            let mut diagnostic = unreadable(&location.display(), &error, request.place.clone());
            if let Some(better) = self.with_extension(location, &request.specifier) {
                diagnostic.hint = format!("write `{better}`: extensions are not guessed");
            }
            Failure::Here(diagnostic)
        };
        match location {
            Location::File(path) => self.files.read(path).map_err(failed),
            Location::Remote(address) => match self.files.remote(address) {
                Some(read) => read.map_err(|problem| {
                    Failure::Here(Diagnostic::of(problem::REMOTE, request.place.clone(), problem))
                }),
                None => {
                    let message = format!("`{address}` is a remote module, and plimsoll downloads no code");
                    let hint = "download the file and import it by its path, or use `--allow-remote`";
                    Err(request.wrong(problem::REMOTE, message, hint))
                }
            },
        }
    }

    /// Returns the specifier with the extension that the writer may have meant.
    fn with_extension(&self, location: &Location, specifier: &str) -> Option<String> {
        let Location::File(path) = location else { return None };
        let endings = [".js", ".ts", ".json", "/index.js", "/index.ts"];
        let found = endings.iter().find(|ending| {
            let mut name = path.clone().into_os_string();
            name.push(ending);
            self.files.read(&PathBuf::from(name)).is_ok()
        });
        found.map(|ending| format!("{}{ending}", specifier.trim_end_matches('/')))
    }

    fn json(&mut self, location: Location, bytes: &[u8]) -> Loaded {
        let loaded = match self.checked_json(&location, bytes) {
            Ok(json) => {
                self.json.push(json);
                Loaded::Json(self.json.len() - 1)
            }
            Err(mut wrong) => {
                self.wrong.append(&mut wrong);
                Loaded::Invalid
            }
        };
        self.known.insert((location, true), loaded);
        loaded
    }

    fn checked_json(&self, location: &Location, bytes: &[u8]) -> Result<Json, Vec<Diagnostic>> {
        let file = location.display();
        let text = text(&file, bytes)?;
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text.source) {
            let before: usize =
                text.source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let at = before + error.column().saturating_sub(1);
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            let place = text.place(at as u32);
            return Err(vec![problem::at(problem::JSON, place, format!("invalid JSON: {reason}"), "")]);
        }
        Ok(Json { name: location.name(&self.folder), path: PathBuf::from(file), text: text.source })
    }
}

impl ImportSite {
    fn wrong(&self, code: &'static str, message: String, hint: &str) -> Failure {
        Failure::Here(problem::at(code, self.place.clone(), message, hint))
    }
}
