//! Groups and checks as a tree.

use md5::{Digest, Md5};

/// A group. The root has an empty name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    pub name: String,
    /// `::outer::inner`; empty for the root.
    pub path: String,
    /// Nested groups, in the order of their first use.
    pub groups: Vec<Group>,
    pub checks: Vec<CheckCount>,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCount {
    pub name: String,
    /// The path of its group, and its name.
    pub path: String,
    pub passes: u64,
    pub fails: u64,
}

impl Group {
    /// Returns a group by its path, and adds it with all around it if it is missing.
    pub(super) fn at(&mut self, path: &str) -> &mut Group {
        let mut group = self;
        for name in path.split("::").filter(|name| !name.is_empty()) {
            let at = group.groups.iter().position(|one| one.name == name).unwrap_or_else(|| {
                let path = format!("{}::{name}", group.path);
                group.groups.push(Group { name: name.to_owned(), path, ..Group::default() });
                group.groups.len() - 1
            });
            // proof: the position of an element, or that of the last one.
            group = &mut group.groups[at];
        }
        group
    }

    /// Counts evaluations of a check of this group.
    pub(super) fn count(&mut self, name: &str, passes: u64, fails: u64) {
        match self.checks.iter_mut().find(|one| one.name == name) {
            Some(check) => {
                check.passes = check.passes.saturating_add(passes);
                check.fails = check.fails.saturating_add(fails);
            }
            None => {
                let path = format!("{}::{name}", self.path);
                self.checks.push(CheckCount { name: name.to_owned(), path, passes, fails });
            }
        }
    }

    /// Returns all checks, those of nested groups after those of the group.
    pub fn all_checks(&self) -> Vec<&CheckCount> {
        self.checks.iter().chain(self.groups.iter().flat_map(Group::all_checks)).collect()
    }
}

/// Returns the ID of a path: its MD5.
pub(super) fn id(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
