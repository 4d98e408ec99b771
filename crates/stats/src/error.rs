//! Errors in bytes that claim to be encoded by this crate.

use std::fmt;

/// The reason why bytes could not be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end before the value does.
    Truncated,
    /// The format or bucket layout is unknown to this version.
    UnknownVersion {
        /// The format: `histogram layout`, `tally`, `interval`.
        what: &'static str,
        /// The version byte found.
        found: u8,
        /// The only version byte that this build reads.
        known: u8,
    },
    /// The bytes are contradictory, or not in the canonical form that the encoder writes.
    Malformed {
        /// The violated rule.
        what: &'static str,
    },
    /// The value would need more memory than a decoder may allocate; see [`crate::tally::CELL_BYTES_MAX`] and
    /// [`crate::tally::BUCKET_BYTES_MAX`].
    TooLarge {
        /// The unit of the allocation.
        what: &'static str,
        /// The number that the bytes require.
        found: u64,
        /// The number that may still be allocated.
        limit: u64,
    },
}

/// Contains no advice: that depends on where the bytes came from, which only the reader knows.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Truncated => f.write_str("the encoded numbers are truncated"),
            Error::UnknownVersion { what, found, known: _ } => write!(f, "unknown {what} version `{found}`"),
            Error::Malformed { what } => write!(f, "invalid encoded numbers: {what}"),
            Error::TooLarge { what, found, limit } => {
                write!(f, "the encoded numbers require `{found}` {what}; the limit is `{limit}`")
            }
        }
    }
}

impl std::error::Error for Error {}
