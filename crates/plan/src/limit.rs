//! Every limit of the load generator, by name: one table for defaults, `--limit NAME=VALUE`, files and documents.

use crate::Problem;
use serde::{Deserialize, Serialize};

macro_rules! limits {
    ($($field:ident = $default:expr, $unit:ident, $help:literal;)*) => {
        /// The limits of one run.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Limits { $(#[doc = $help] pub $field: u64,)* }

        impl Default for Limits { fn default() -> Self { Self { $($field: $default,)* } } }

        /// A row of the table.
        #[derive(Debug, Clone, Copy)]
        pub struct Row { pub name: &'static str, pub default: u64, pub unit: Unit, pub help: &'static str }

        /// The table, for help texts and documents.
        pub const TABLE: &[Row] = &[
            $(Row { name: stringify!($field), default: $default, unit: Unit::$unit, help: $help },)*
        ];

        impl Limits {
            /// Sets one limit from text.
            ///
            /// # Errors
            /// A sentence when the name is unknown or the value is not of the limit's unit.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), Problem> {
                match name {
                    $(stringify!($field) => { self.$field = Unit::$unit.parse(value)?; Ok(()) })*
                    _ => {
                        let names: Vec<String> = TABLE.iter().map(|r| format!("`{}`", r.name)).collect();
                        Err(Problem::new(
                            format!("`{name}` is no limit"),
                            format!("there are {}", names.join(", ")),
                        ))
                    }
                }
            }
        }
    };
}

/// How a limit's value is read and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    /// Of a buffer: 0, or [`BUFFER_LEAST`] to [`BUFFER_MOST`].
    BufferBytes,
    Nanoseconds,
}

/// Sizes of a buffer, in bytes: a smaller one is a call to the kernel for nothing, a larger one is no faster anywhere.
pub const BUFFER_LEAST: u64 = 4_096;
pub const BUFFER_MOST: u64 = 1_048_576;

impl Unit {
    fn parse(self, text: &str) -> Result<u64, Problem> {
        match self {
            Unit::Count => {
                text.trim().parse().map_err(|_| Problem::plain(format!("`{text}` is no whole number")))
            }
            Unit::Bytes => crate::unit::size_bytes(text),
            Unit::BufferBytes => match crate::unit::size_bytes(text)? {
                bytes @ (0 | BUFFER_LEAST..=BUFFER_MOST) => Ok(bytes),
                _ => Err(Problem::new(format!("invalid buffer size `{text}`"), "expected 4k to 1m, or 0")),
            },
            Unit::Nanoseconds => crate::unit::duration_ns(text),
        }
    }
}

limits! {
    head_bytes = 65_536, Bytes, "longest response head accepted";
    headers = 128, Count, "most header lines in one response";
    informational = 16, Count, "most 1xx responses before the answer";
    chunk_line_bytes = 4_096, Bytes, "longest line that opens a chunk, extensions included";
    trailer_bytes = 16_384, Bytes, "most bytes of trailers after the last chunk";
    kept_body_bytes = 16_777_216, Bytes, "most bytes of one body that is kept for somebody who reads it";
    kept_total_bytes = 0, Bytes,
        "most bytes of all bodies kept at once; 0: half of the memory that is left to this process at the start";
    read_buffer_bytes = 0, BufferBytes,
        "read buffer of each worker; 0: an eighth of the second-level cache, 64 KiB to 256 KiB";
    event_bytes = 1_048_576, Bytes, "longest server-sent event";
    connect_timeout_ns = 10_000_000_000, Nanoseconds, "longest wait for a connection";
    head_timeout_ns = 10_000_000_000, Nanoseconds,
        "longest time from the first byte of a response head to its end; 0: none";
    chunk_line_timeout_ns = 10_000_000_000, Nanoseconds,
        "longest time from the first byte of a line that opens a chunk to its end; 0: none";
    event_timeout_ns = 30_000_000_000, Nanoseconds,
        "longest time from the first byte of a server-sent event to its end; 0: none";
    reconnect_pause_ns = 50_000_000, Nanoseconds, "pause of a user whose connection attempt failed, doubled up to 1 s";
    spin_ns = 60_000, Nanoseconds, "the last stretch before a due arrival is spun instead of slept, for precision";
    open_series = 10_000, Count, "most series of numbers that programs may open during the run";
    descriptors = 0, Count, "most descriptors this process may have open; 0: as many as the machine lets it";
    requests = 1_000_000_000_000, Count, "hard cap on requests of one run";
    duration_ns = 172_800_000_000_000, Nanoseconds, "hard cap on the length of one run (48 h)";
}
