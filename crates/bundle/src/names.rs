//! Names that do not occur in a source.

use std::collections::HashSet;

/// All names of variables in one source.
#[derive(Debug, Clone, Default)]
pub struct Names(HashSet<String>);

impl Names {
    pub fn note(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }

    /// Returns a name that begins with `stem`, does not occur in the source, and takes it.
    pub fn fresh(&mut self, stem: &str) -> String {
        let mut name = stem.to_owned();
        while self.0.contains(&name) {
            name.push('_');
        }
        self.0.insert(name.clone());
        name
    }
}
