//! Errors outside of requests: invalid input from the user, or an error of the machine.

use std::fmt;

/// Why the ruler cannot run.
#[derive(Debug)]
pub enum Error {
    /// A flag, key, or value is invalid. The text says what is expected.
    Wrong(String),
    /// An error of the operating system.
    Machine {
        /// The action that failed, in the form that follows "cannot".
        doing: String,
        /// The system's reason.
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
            Error::Machine { doing, source } => write!(out, "cannot {doing}: {source}"),
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
