//! A script of the collection, with what its first lines say about the comparison.

use std::path::{Path, PathBuf};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// For each user, the requests in their order: method, path, headers, body.
    Requests,
    /// Which requests share a connection.
    Connections,
    /// Names, passes, and fails, by group.
    Checks,
    /// Names of metrics, and the values that do not depend on time.
    Metrics,
    /// Keys of the data of `handleSummary()` and of `--summary-export`.
    Keys,
    Thresholds,
    Exit,
    /// What the script writes to the console.
    Console,
    /// Exceptions and errors in the log: their first lines.
    Errors,
    /// Standard output and files, with digits masked.
    Output,
}

pub const ASPECTS: [(Aspect, &str); 10] = [
    (Aspect::Requests, "requests"),
    (Aspect::Connections, "connections"),
    (Aspect::Checks, "checks"),
    (Aspect::Metrics, "metrics"),
    (Aspect::Keys, "keys"),
    (Aspect::Thresholds, "thresholds"),
    (Aspect::Exit, "exit"),
    (Aspect::Console, "console"),
    (Aspect::Errors, "errors"),
    (Aspect::Output, "output"),
];

impl Aspect {
    fn of(name: &str) -> Option<Aspect> {
        ASPECTS.iter().find(|(_, known)| *known == name).map(|(one, _)| *one)
    }
}

/// A script.
#[derive(Debug, Clone)]
pub struct Script {
    /// `topic/name`.
    pub name: String,
    pub path: PathBuf,
    /// Further flags of `k6 run`.
    pub flags: Vec<String>,
    /// Variables of the process.
    pub variables: Vec<(String, String)>,
    /// Aspects that are known to differ, each with the key of its reason in the documentation.
    pub differs: Vec<(Aspect, String)>,
    /// Aspects that depend on time in this script.
    pub skips: Vec<Aspect>,
    /// Requests of one user have no fixed order, as in a batch.
    pub is_unordered: bool,
    /// The text at the end is compared as well.
    pub prints: bool,
    /// Which requests share a connection is compared as well.
    pub connects: bool,
}

impl Script {
    /// Reads a script. Its first lines may be directives:
    ///
    /// ```text
    /// // flags: --no-setup -e A=1
    /// // variables: K6_VUS=2
    /// // differs: exit key-of-the-reason
    /// // skips: metrics checks
    /// // order: any
    /// // text: compared
    /// // connections: compared
    /// ```
    ///
    /// # Errors
    /// Returns a sentence if the file cannot be read, or a directive is unknown.
    pub fn read(root: &Path, path: &Path) -> Result<Script, String> {
        let shown = path.strip_prefix(root).unwrap_or(path).with_extension("");
        let text =
            std::fs::read_to_string(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
        let mut script = Script {
            name: shown.display().to_string(),
            path: path.to_owned(),
            flags: Vec::new(),
            variables: Vec::new(),
            differs: Vec::new(),
            skips: Vec::new(),
            is_unordered: false,
            prints: false,
            connects: false,
        };
        let comments = text.lines().map_while(|line| line.strip_prefix("// "));
        for (key, value) in comments.filter_map(|line| line.split_once(": ")) {
            script.take(key, value).map_err(|why| format!("{}: {why}", script.name))?;
        }
        Ok(script)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), String> {
        let aspect = |name: &str| Aspect::of(name).ok_or(format!("unknown aspect `{name}`"));
        let mut words = value.split_whitespace();
        match key {
            "flags" => self.flags.extend(words.map(str::to_owned)),
            "variables" => {
                let pairs = words.filter_map(|word| word.split_once('='));
                self.variables.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            "differs" => match (words.next(), words.next()) {
                (Some(name), Some(reason)) => self.differs.push((aspect(name)?, reason.to_owned())),
                _ => return Err("write `differs: ASPECT REASON`".into()),
            },
            "skips" => {
                for name in words {
                    self.skips.push(aspect(name)?);
                }
            }
            "order" => self.is_unordered = true,
            "text" => self.prints = true,
            "connections" => self.connects = true,
            // A sentence with a colon.
            _ => {}
        }
        Ok(())
    }
}

/// Returns the scripts of a folder, except those that others import (in folders named `lib`).
///
/// # Errors
/// Returns a sentence if a file cannot be read.
pub fn all(root: &Path) -> Result<Vec<Script>, String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |e: std::io::Error| format!("cannot list `{}`: {e}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() && !path.ends_with("lib") {
                folders.push(path);
            } else if matches!(ending, "js" | "ts" | "cjs" | "mjs") {
                found.push(Script::read(root, &path)?);
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
