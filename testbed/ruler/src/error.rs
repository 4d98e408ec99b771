//! What can go wrong outside a request: a wrong word from the user, or a refusal by the machine.

use std::fmt;

/// Why the ruler could not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// A flag, key or value is not understood. The text says what was expected.
    Wrong(String),
    /// The operating system refused.
    Machine {
        /// What was tried, to follow "could not".
        doing: String,
        /// The system's own reason.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn wrong(text: impl Into<String>) -> Self {
        Error::Wrong(text.into())
    }

    pub(crate) fn machine(doing: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        let doing = doing.into();
        move |errno| Error::Machine { doing, source: errno.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Wrong(text) => out.write_str(text),
            Error::Machine { doing, source } => write!(out, "could not {doing}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Wrong(_) => None,
            Error::Machine { source, .. } => Some(source),
        }
    }
}
