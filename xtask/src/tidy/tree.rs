//! The input of the rules: every text file of the checkout, and cargo's metadata of the packages. Rules get it as a
//! value, so a test can pass a tree that is not on disk.

use super::source;
use chore::shell;
use serde_json::Value;
use std::path::Path;

pub struct Tree {
    pub files: Vec<File>,
    /// Packages of this workspace.
    pub packages: Vec<Package>,
    /// Lock files of npm: only their licenses are checked.
    pub npm_locks: Vec<File>,
    /// All files, regardless of their content; links refer to them.
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
    /// Root source files of the targets (lib, bins, tests, benches, examples, build script).
    pub roots: Vec<String>,
}

pub struct Dependency {
    pub name: String,
    pub dev: bool,
}

/// Folders without source files: builds, histories, state of other tools.
const SKIP: &[&str] = &["target", ".git", ".next", "node_modules", "corpus", "artifacts"];
/// Files that the rules read. Of all others, only the paths matter.
const TEXT: &[&str] = &["rs", "md", "toml", "c", "js", "sh", "yaml", "yml", "html", "css", "conf", "svelte"];

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
    /// Reads the checkout and cargo's metadata (`--locked`, because the lock file must be up to date).
    pub fn read(root: &Path) -> Result<Tree, String> {
        let mut tree =
            Tree { files: Vec::new(), packages: Vec::new(), npm_locks: Vec::new(), paths: walk(root)? };
        for path in &tree.paths {
            let known = path.rsplit_once('.').is_some_and(|(_, ending)| TEXT.contains(&ending));
            let is_lock = path.ends_with("/package-lock.json");
            if known || is_lock || path == ".ci/run" {
                let bytes =
                    std::fs::read(root.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"))?;
                let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is not UTF-8"))?;
                let file = File::new(path, &text);
                // Packages of the testbed are separate programs and do not become part of plimsoll.
                match is_lock && !path.starts_with("testbed/") {
                    true => tree.npm_locks.push(file),
                    false => tree.files.push(file),
                }
            }
        }
        tree.read_packages(&shell::metadata(&["--locked"])?)?;
        Ok(tree)
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    fn read_packages(&mut self, metadata: &Value) -> Result<(), String> {
        let root = metadata["workspace_root"].as_str().ok_or("`cargo metadata` has no workspace root")?;
        let relative = |path: &str| {
            path.strip_prefix(root)
                .map(|p| p.trim_start_matches('/').to_string())
                .unwrap_or_else(|| path.to_string())
        };
        let members: Vec<&str> = strings(&metadata["workspace_members"]);
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
            }
        }
        Ok(())
    }
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

/// Returns every file below a folder, sorted, relative to it.
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
            // `file_type` does not follow links, so a link to a folder cannot cause an endless loop.
            let kind = entry.file_type().map_err(|e| format!("cannot read the type of `{inside}`: {e}"))?;
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
    /// Returns a tree for a test: paths with their texts.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree {
            files: files.iter().map(|(path, text)| File::new(path, text)).collect(),
            packages: Vec::new(),
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
    fn cargo_metadata_becomes_packages_of_this_workspace() {
        let metadata = serde_json::json!({
            "workspace_root": "/x", "workspace_members": ["own"],
            "packages": [
                {"id": "own", "name": "plimsoll-plan", "manifest_path": "/x/crates/plan/Cargo.toml",
                 "dependencies": [{"name": "ruler", "kind": "dev"}],
                 "targets": [{"src_path": "/x/crates/plan/src/lib.rs"}]},
                {"id": "far", "name": "shlex", "manifest_path": "/far/Cargo.toml"}]});
        let mut tree = Tree::of(&[]);
        tree.read_packages(&metadata).unwrap();
        assert_eq!(
            (tree.packages[0].folder.as_str(), tree.packages[0].roots[0].as_str()),
            ("crates/plan", "crates/plan/src/lib.rs")
        );
        assert!(tree.packages[0].dependencies[0].dev);
        assert_eq!(tree.packages.len(), 1);
    }
}
