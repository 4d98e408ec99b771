//! The expected differences: lines of a file, `PLAN ASPECT: REASON`.

use crate::compare::Aspect;
use crate::plan::Plan;
use std::path::Path;

const FILE: &str = "differences.txt";

/// All reasons.
pub struct Reasons(Vec<(String, Aspect, String)>);

impl Reasons {
    /// Reads the file; each line must be of a plan.
    ///
    /// # Errors
    /// Returns a sentence if the file cannot be read, or names an unknown plan or aspect.
    pub fn read(folder: &Path, plans: &[Plan]) -> Result<Reasons, String> {
        let path = folder.join(FILE);
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = |line: &str| {
            let (head, reason) = line.split_once(": ").ok_or(format!("{FILE}: no reason in `{line}`"))?;
            let (name, aspect) = head.split_once(' ').ok_or(format!("{FILE}: no aspect in `{line}`"))?;
            let aspect = Aspect::of(aspect).ok_or(format!("{FILE}: unknown aspect `{aspect}`"))?;
            if !plans.iter().any(|plan| plan.name == name) {
                return Err(format!("{FILE}: unknown plan `{name}`"));
            }
            Ok((name.to_owned(), aspect, reason.to_owned()))
        };
        lines.map(read).collect::<Result<Vec<_>, String>>().map(Reasons)
    }

    /// Returns why an aspect of a plan differs.
    pub fn of(&self, plan: &str, aspect: Aspect) -> Option<&str> {
        let found = self.0.iter().find(|(name, of, _)| name == plan && *of == aspect);
        found.map(|(_, _, reason)| reason.as_str())
    }
}
