//! Errors of the kernel during the setup of a run.

use crate::sys::Errno;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The kernel refused something that a run requires.
    Kernel { what: &'static str, why: String },
}

impl Error {
    pub(crate) fn kernel(what: &'static str) -> impl Fn(Errno) -> Error {
        move |errno| Error::Kernel { what, why: errno.sentence() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Kernel { what, why } => write!(f, "the kernel refused {what}: {why}"),
        }
    }
}

impl std::error::Error for Error {}
