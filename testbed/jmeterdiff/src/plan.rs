//! The plans of the collection: files with many short plans each.
//!
//! ```text
//! == name-of-the-plan | skips=results
//! # a comment
//! TestPlan p
//!   ThreadGroup Users | threads=2
//!     HTTPSamplerProxy a | path=/a
//! ```
//!
//! A plan that does not begin with `TestPlan` is the content of one thread group. [`crate::xml`] has the elements.

use crate::compare::Aspect;
use std::path::Path;

/// A plan.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `file/name`.
    pub name: String,
    pub lines: String,
    /// Aspects that depend on chance or on time in this plan.
    pub skips: Vec<Aspect>,
}

/// The beginning of a plan that has only the content of its thread group.
const AROUND: &str =
    "TestPlan p\n  ConfigTestElement defaults | domain=HOST | port=PORT\n  ThreadGroup Users\n";

/// Returns all plans of a folder.
///
/// # Errors
/// Returns a sentence if a file cannot be read, or a heading is invalid.
pub fn all(folder: &Path) -> Result<Vec<Plan>, String> {
    let unreadable = |e: std::io::Error| format!("cannot read `{}`: {e}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "plans") {
            files.push(path);
        }
    }
    files.sort();
    let mut plans: Vec<Plan> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(unreadable)?;
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for part in format!("\n{text}").split("\n== ").skip(1) {
            let plan = read(&topic, part)?;
            if plans.iter().any(|known| known.name == plan.name) {
                return Err(format!("two plans are named `{}`", plan.name));
            }
            plans.push(plan);
        }
    }
    Ok(plans)
}

fn read(topic: &str, part: &str) -> Result<Plan, String> {
    let (head, lines) = part.split_once('\n').unwrap_or((part, ""));
    let mut words = head.split(" | ");
    let name = format!("{topic}/{}", words.next().unwrap_or_default().trim());
    let mut skips = Vec::new();
    for word in words {
        let names =
            word.trim().strip_prefix("skips=").ok_or(format!("{name}: unknown directive `{word}`"))?;
        for aspect in names.split(',') {
            skips.push(Aspect::of(aspect).ok_or(format!("{name}: unknown aspect `{aspect}`"))?);
        }
    }
    let is_line = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let lines: Vec<&str> = lines.lines().filter(is_line).collect();
    let lines = match lines.first() {
        Some(first) if first.starts_with("TestPlan") => {
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
        Some(_) => {
            let inner: String = lines.iter().map(|line| format!("    {line}\n")).collect();
            format!("{AROUND}{inner}")
        }
        None => return Err(format!("{name}: an empty plan")),
    };
    Ok(Plan { name, lines, skips })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasons::Reasons;

    #[test]
    fn all_plans_and_reasons_can_be_read() {
        let folder = chore::shell::root().join(crate::PLANS);
        let plans = all(&folder).expect("the plans are valid");
        assert!(plans.len() > 200, "{}", plans.len());
        Reasons::read(&folder, &plans).expect("each reason is that of a plan");
        for plan in plans {
            let text = crate::xml::plan(&plan.lines);
            assert!(text.contains("<TestPlan ") && text.contains("ThreadGroup"), "{}\n{text}", plan.name);
        }
    }

    #[test]
    fn unknown_directives_and_empty_plans_are_mistakes() {
        assert!(read("t", "a | skips=requests\nHTTPSamplerProxy x").is_ok());
        assert!(read("t", "a | skips=nothing\nHTTPSamplerProxy x").is_err());
        assert!(read("t", "a | order=any\nHTTPSamplerProxy x").is_err());
        assert!(read("t", "a\n# only a comment").is_err());
    }
}
