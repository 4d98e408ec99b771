//! Inputs besides the text itself: values from the command line, and the environment.

use plimsoll_plan::{Draft, Problem};
use std::path::PathBuf;

/// Looks up an environment variable by name.
pub type Environment = dyn Fn(&str) -> Option<String>;

/// Asks the target of a draft for its gRPC schemas, with metadata, as far as the draft is known. Returns a compiled set
/// of them, or why there is none.
pub type Reflect = dyn Fn(&Draft, &[(String, String)]) -> Result<Vec<u8>, Problem>;

/// Values that override `vars`, and the source of `${env.X}` and `${secret.X}`.
pub struct Overrides {
    /// `--set NAME=VALUE`, in the order given; the last of a name counts.
    pub set: Vec<(String, String)>,
    /// Returns the value of an environment variable. It is a function so that tests need no environment.
    pub env: Box<Environment>,
    /// If set, the text is untrusted: it must not run programs or read environment variables, and it may name only
    /// files in these directories.
    pub keep_to: Option<Vec<PathBuf>>,
    /// Asks a server for its schemas, because this crate opens no sockets; `None` if nothing may be sent.
    pub reflect: Option<Box<Reflect>>,
}

impl Default for Overrides {
    /// Returns overrides that set nothing and read the environment of this process.
    fn default() -> Self {
        Self { set: Vec::new(), env: Box::new(of_process), keep_to: None, reflect: None }
    }
}

/// Returns a variable of this process.
fn of_process(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    plimsoll_plan::inputs::note_variable(name, &value);
    Some(value)
}

impl std::fmt::Debug for Overrides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be secrets, so only names are shown.
        f.debug_list().entries(self.set.iter().map(|(name, _)| name)).finish()
    }
}

/// Splits `NAME=VALUE`, the value of a flag.
///
/// # Errors
/// Returns an error if there is no `=`, or nothing before it.
pub fn parse_set(text: &str) -> Result<(String, String), Problem> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        // The text is not repeated: it may be a secret.
        _ => Err(Problem::plain("missing name: expected `NAME=VALUE`")),
    }
}
