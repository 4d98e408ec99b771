//! What a text is read with besides itself: values from the command line, and the environment.

use plimsoll_plan::Problem;
use std::path::PathBuf;

/// The value of a variable by its name.
pub type Environment = dyn Fn(&str) -> Option<String>;

/// Values that override `vars`, and where `${env.X}` and `${secret.X}` come from.
pub struct Overrides {
    /// `--set NAME=VALUE`, in the order given; the last of a name counts.
    pub set: Vec<(String, String)>,
    /// The value of an environment variable. A function, so that a test needs no environment.
    pub env: Box<Environment>,
    /// The text is a stranger's: it may name no program to be run, no variable of the environment, and no files but
    /// those in these folders.
    pub keep_to: Option<Vec<PathBuf>>,
}

impl Default for Overrides {
    /// Nothing set, and the environment of this process.
    fn default() -> Self {
        Self { set: Vec::new(), env: Box::new(|name| std::env::var(name).ok()), keep_to: None }
    }
}

impl std::fmt::Debug for Overrides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be secrets.
        f.debug_list().entries(self.set.iter().map(|(name, _)| name)).finish()
    }
}

/// Takes `NAME=VALUE` apart, as a flag gives it.
///
/// # Errors
/// A sentence when there is no `=`, or nothing in front of it.
pub fn parse_set(text: &str) -> Result<(String, String), Problem> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        // What stands there may be a secret alone.
        _ => Err(Problem::plain("a value without its name; expected `NAME=VALUE`")),
    }
}
