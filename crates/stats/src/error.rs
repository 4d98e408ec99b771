//! What can be wrong with bytes that claim to be one of ours.

use std::fmt;

/// Why a byte string could not be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end before the value does.
    Truncated,
    /// Written in a format or bucket layout that this version does not know.
    UnknownVersion {
        /// Which format: `histogram layout`, `tally`, `interval`.
        what: &'static str,
        /// The version byte found.
        found: u8,
        /// The only version byte this build reads.
        known: u8,
    },
    /// The bytes contradict themselves, or are not in the one canonical form that the encoder writes.
    Malformed {
        /// The rule that was broken.
        what: &'static str,
    },
    /// The value would need more memory than a decoder is willing to give; see
    /// [`crate::tally::CELL_BYTES_MAX`] and [`crate::tally::BUCKET_BYTES_MAX`].
    TooLarge {
        /// What would be allocated, with its unit.
        what: &'static str,
        /// How many of them the bytes ask for.
        found: u64,
        /// How many of them are left to give.
        limit: u64,
    },
}

/// What to do about it depends on where the bytes came from: whoever read them knows.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Truncated => f.write_str("encoded numbers end too early"),
            Error::UnknownVersion { what, found, known: _ } => write!(f, "unknown {what} version `{found}`"),
            Error::Malformed { what } => write!(f, "malformed encoded numbers: {what}"),
            Error::TooLarge { what, found, limit } => {
                write!(f, "encoded numbers ask for `{found}` {what}, more than the limit of `{limit}`")
            }
        }
    }
}

impl std::error::Error for Error {}
