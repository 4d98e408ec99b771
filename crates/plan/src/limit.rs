//! The limits of the load generator: one table for defaults, `--limit NAME=VALUE`, files, and documentation.

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

        /// The table, for help texts and documentation.
        pub const TABLE: &[Row] = &[
            $(Row { name: stringify!($field), default: $default, unit: Unit::$unit, help: $help },)*
        ];

        impl Limits {
            /// Sets a limit from text.
            ///
            /// # Errors
            /// Returns an error if the name is unknown, or the value does not have the unit of the limit.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), Problem> {
                match name {
                    $(stringify!($field) => { self.$field = Unit::$unit.parse(value)?; Ok(()) })*
                    _ => {
                        let names: Vec<String> = TABLE.iter().map(|r| format!("`{}`", r.name)).collect();
                        Err(Problem::new(
                            format!("unknown limit `{name}`"),
                            format!("use one of {}", names.join(", ")),
                        ))
                    }
                }
            }
        }
    };
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    /// The size of a buffer: 0, or [`BUFFER_LEAST`] to [`BUFFER_MOST`].
    BufferBytes,
    Nanoseconds,
}

/// The name of the limit on open files, for advice.
pub const OPEN_FILES: &str = stringify!(descriptors);

/// Sizes of a buffer, in bytes: a smaller one wastes system calls, and a larger one is not faster.
pub const BUFFER_LEAST: u64 = 4_096;
pub const BUFFER_MOST: u64 = 1_048_576;

impl Unit {
    fn parse(self, text: &str) -> Result<u64, Problem> {
        match self {
            Unit::Count => {
                let wrong = || Problem::new(format!("invalid whole number `{text}`"), "write only digits");
                text.trim().parse().map_err(|_| wrong())
            }
            Unit::Bytes => crate::unit::size_bytes(text),
            Unit::BufferBytes => match crate::unit::size_bytes(text)? {
                bytes @ (0 | BUFFER_LEAST..=BUFFER_MOST) => Ok(bytes),
                _ => Err(Problem::new(
                    format!("invalid buffer size `{text}`: expected 4k–1m, or 0"),
                    "write a size such as `64k`",
                )),
            },
            Unit::Nanoseconds => crate::unit::duration_ns(text),
        }
    }
}

limits! {
    head_bytes = 65_536, Bytes, "longest response head accepted";
    headers = 128, Count, "maximum number of header lines in one response";
    informational = 16, Count, "maximum number of 1xx responses before the final response";
    chunk_line_bytes = 4_096, Bytes, "longest chunk header, including extensions";
    trailer_bytes = 16_384, Bytes, "maximum size of the trailers after the last chunk";
    kept_body_bytes = 16_777_216, Bytes, "maximum size of one body that is kept for a check or an extraction";
    kept_total_bytes = 0, Bytes,
        "maximum size of all bodies kept at once; 0 means half of the memory available to the process at the start";
    read_buffer_bytes = 0, BufferBytes,
        "read buffer of each worker; 0 means an eighth of the L2 cache, 64 KiB to 256 KiB";
    event_bytes = 1_048_576, Bytes, "longest server-sent event";
    message_bytes = 16_777_216, Bytes, "longest WebSocket message, decompressed";
    connect_timeout_ns = 10_000_000_000, Nanoseconds, "longest wait for a connection";
    head_timeout_ns = 10_000_000_000, Nanoseconds,
        "longest time from the first byte of a response head to its end; 0 means no limit";
    chunk_line_timeout_ns = 10_000_000_000, Nanoseconds,
        "longest time from the first byte of a chunk header to its end; 0 means no limit";
    event_timeout_ns = 30_000_000_000, Nanoseconds,
        "longest time from the first byte of a server-sent event to its end; 0 means no limit";
    close_timeout_ns = 5_000_000_000, Nanoseconds,
        "longest wait for the server's answer to the close frame of a WebSocket";
    reconnect_pause_ns = 50_000_000, Nanoseconds,
        "pause of a user after a failed connection attempt, doubled each time up to 1 s";
    spin_ns = 60_000, Nanoseconds, "time of busy-polling before an intended start time, for precise sends";
    open_series = 10_000, Count, "maximum number of series that programs may open during the run";
    descriptors = 0, Count, "maximum number of open files; 0 means the limit of the system";
    requests = 1_000_000_000_000, Count, "hard limit on the number of requests of one run";
    duration_ns = 172_800_000_000_000, Nanoseconds, "hard limit on the duration of one run (48 h)";
}
