//! What the rules look at: every text file of the checkout, and cargo's view of the packages. Rules get it as a
//! value, so a test can hand them a tree that exists nowhere.

use super::source;
use chore::shell;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

pub struct Tree {
    pub files: Vec<File>,
    /// Packages of this workspace.
    pub packages: Vec<Package>,
    /// Everything that is linked in from elsewhere, for the platforms in `deny.toml`.
    pub externals: Vec<External>,
    /// Lock files of npm: only their licences are looked at.
    pub npm_locks: Vec<File>,
    /// Files and folders that exist, whatever they hold; links point at them.
    pub paths: Vec<String>,
}

/// A text file. `path` is relative to the root, with `/`.
pub struct File {
    pub path: String,
    pub text: String,
    /// Masked text of a Rust file; empty for others.
    pub code: String,
}

#[derive(Default)]
pub struct Package {
    pub name: String,
    /// Folder relative to the root; empty for the root package.
    pub folder: String,
    pub dependencies: Vec<Dependency>,
    /// Source files at which cargo starts compiling (lib, bins, tests, benches, examples, build script).
    pub roots: Vec<String>,
}

pub struct Dependency {
    pub name: String,
    pub dev: bool,
}

#[derive(Default)]
pub struct External {
    pub name: String,
    pub version: String,
    /// SPDX expression as published; empty when the package names none.
    pub licence: String,
    /// Empty for a path dependency.
    pub source: String,
    pub dependents: Vec<String>,
}

/// Everything that is built, for tests too, as `name vVERSION` lines.
const BUILT: &[&str] =
    &["tree", "--locked", "--workspace", "--target", "all", "-e", "normal,build,dev", "--prefix", "none"];

/// Folders that hold nothing written here: builds, histories, other tools' state.
const SKIP: &[&str] = &["target", ".git", ".next", "node_modules", "corpus", "artifacts"];
/// Files that the rules read. Everything else only has to exist.
const TEXT: &[&str] = &["rs", "md", "toml", "c", "js", "sh", "yaml", "yml", "html", "css", "conf"];

impl File {
    pub fn new(path: &str, text: &str) -> File {
        let code = if path.ends_with(".rs") { source::mask(text) } else { String::new() };
        File { path: path.to_string(), text: text.to_string(), code }
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

impl Tree {
    /// Reads the checkout and asks cargo about the packages (`--locked`: a tidy tree has its lock file in order).
    pub fn read(root: &Path) -> Result<Tree, String> {
        let mut tree = Tree {
            files: Vec::new(),
            packages: Vec::new(),
            externals: Vec::new(),
            npm_locks: Vec::new(),
            paths: walk(root)?,
        };
        for path in &tree.paths {
            let known = path.rsplit_once('.').is_some_and(|(_, ending)| TEXT.contains(&ending));
            let is_lock = path.ends_with("/package-lock.json");
            if known || is_lock || path == ".ci/run" {
                let bytes =
                    std::fs::read(root.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"))?;
                let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is not UTF-8"))?;
                let file = File::new(path, &text);
                // Packages of the testbed are programs that run for themselves: nothing of them goes into ours.
                match is_lock && !path.starts_with("testbed/") {
                    true => tree.npm_locks.push(file),
                    false => tree.files.push(file),
                }
            }
        }
        let deny =
            tree.file("deny.toml").map(|file| super::licences::targets(&file.text)).unwrap_or_default();
        let mut arguments = vec!["--locked".to_string()];
        arguments.extend(deny.iter().flat_map(|target| ["--filter-platform".to_string(), target.clone()]));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        tree.read_packages(&shell::metadata(&arguments)?)?;
        tree.forget_unbuilt(&shell::output(shell::cargo().args(BUILT))?);
        Ok(tree)
    }

    /// The lock file also names what nobody switches on (`ring` as an optional part of another package); only what is
    /// built is judged.
    fn forget_unbuilt(&mut self, built: &str) {
        let built: std::collections::BTreeSet<(&str, &str)> =
            built.lines().filter_map(|line| line.split_once(" v")).collect();
        self.externals.retain(|e| {
            built.iter().any(|(name, rest)| *name == e.name && rest.split(' ').next() == Some(&*e.version))
        });
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    fn read_packages(&mut self, metadata: &Value) -> Result<(), String> {
        let root = metadata["workspace_root"].as_str().ok_or("`cargo metadata` names no workspace root")?;
        let relative = |path: &str| {
            path.strip_prefix(root)
                .map(|p| p.trim_start_matches('/').to_string())
                .unwrap_or_else(|| path.to_string())
        };
        let members: Vec<&str> = strings(&metadata["workspace_members"]);
        let (names, dependents) = graph(metadata);
        for package in list(&metadata["packages"]) {
            let (id, name) = (text(&package["id"]), text(&package["name"]));
            if members.contains(&id) {
                let manifest = relative(text(&package["manifest_path"]));
                let dependency =
                    |d: &Value| Dependency { name: text(&d["name"]).into(), dev: text(&d["kind"]) == "dev" };
                self.packages.push(Package {
                    name: name.into(),
                    folder: manifest.trim_end_matches("Cargo.toml").trim_end_matches('/').into(),
                    dependencies: list(&package["dependencies"]).iter().map(dependency).collect(),
                    roots: list(&package["targets"]).iter().map(|t| relative(text(&t["src_path"]))).collect(),
                });
            } else if names.contains_key(id) {
                self.externals.push(External {
                    name: name.into(),
                    version: text(&package["version"]).into(),
                    licence: text(&package["license"]).into(),
                    source: text(&package["source"]).into(),
                    dependents: dependents.get(id).cloned().unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}

/// Names of the packages that take part in the build, and for each the names of those that ask for it.
fn graph(metadata: &Value) -> (BTreeMap<&str, &str>, BTreeMap<&str, Vec<String>>) {
    let named: BTreeMap<&str, &str> =
        list(&metadata["packages"]).iter().map(|p| (text(&p["id"]), text(&p["name"]))).collect();
    let mut names = BTreeMap::new();
    let mut dependents: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let id = text(&node["id"]);
        let name = named.get(id).copied().unwrap_or_default();
        names.insert(id, name);
        for dependency in strings(&node["dependencies"]) {
            dependents.entry(dependency).or_default().push(name.to_string());
        }
    }
    (names, dependents)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().map(text).collect()
}

/// Every file below a folder, sorted, relative to it.
pub fn walk(root: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let entries =
            std::fs::read_dir(&path).map_err(|e| format!("cannot list `{}`: {e}", path.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("cannot list `{}`: {e}", path.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let inside = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            // `file_type` does not follow links: a link to a folder can never lead in circles.
            let kind = entry.file_type().map_err(|e| format!("cannot look at `{inside}`: {e}"))?;
            if kind.is_dir() && !SKIP.contains(&name.as_str()) {
                folders.push(inside);
            } else if kind.is_file() {
                found.push(inside);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
impl Tree {
    /// A pretend tree: paths with their texts.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree {
            files: files.iter().map(|(path, text)| File::new(path, text)).collect(),
            packages: Vec::new(),
            externals: Vec::new(),
            npm_locks: Vec::new(),
            paths: files.iter().map(|(path, _)| path.to_string()).collect(),
        }
    }

    pub fn with_package(
        mut self,
        name: &str,
        folder: &str,
        roots: &[&str],
        dependencies: &[(&str, bool)],
    ) -> Tree {
        self.packages.push(Package {
            name: name.into(),
            folder: folder.into(),
            roots: roots.iter().map(|r| r.to_string()).collect(),
            dependencies: dependencies
                .iter()
                .map(|&(name, dev)| Dependency { name: name.into(), dev })
                .collect(),
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_metadata_becomes_packages_and_externals() {
        let metadata = serde_json::json!({
            "workspace_root": "/x", "workspace_members": ["own"],
            "packages": [
                {"id": "own", "name": "plimsoll-plan", "manifest_path": "/x/crates/plan/Cargo.toml",
                 "dependencies": [{"name": "ruler", "kind": "dev"}],
                 "targets": [{"src_path": "/x/crates/plan/src/lib.rs"}]},
                {"id": "far", "name": "shlex", "version": "2.0.1", "license": "MIT", "source": "registry+x"},
                {"id": "windows", "name": "not-built-here"}],
            "resolve": {"nodes": [{"id": "own", "dependencies": ["far"]}, {"id": "far", "dependencies": []}]}});
        let mut tree = Tree::of(&[]);
        tree.read_packages(&metadata).unwrap();
        assert_eq!(
            (tree.packages[0].folder.as_str(), tree.packages[0].roots[0].as_str()),
            ("crates/plan", "crates/plan/src/lib.rs")
        );
        assert!(tree.packages[0].dependencies[0].dev);
        assert_eq!(tree.externals.len(), 1);
        assert_eq!(tree.externals[0].dependents, ["plimsoll-plan"]);
    }
}
