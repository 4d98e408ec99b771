//! Invalid bytes, with one number for each kind, so that a failure can be counted without a string.

use std::fmt;

/// The reason why a response was refused. The connection cannot be used any further: the start of the next response is
/// unknown. The numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Malformed {
    /// The first line is not that of an HTTP response, or its status is not 100 to 999.
    StatusLine = 1,
    /// HTTP, but neither 1.0 nor 1.1.
    Version = 2,
    /// A header line with an invalid name, a control byte, or a bare carriage return.
    HeaderLine = 3,
    /// The head does not end within `Limits::head_bytes_max`.
    HeadTooLarge = 4,
    /// More lines than `Limits::headers_max`.
    TooManyHeaders = 5,
    /// More interim responses than `Limits::informational_max`.
    TooManyInformational = 6,
    /// Two different values of Content-Length, or Content-Length together with Transfer-Encoding.
    ConflictingLength = 7,
    /// A Content-Length that is not a plain decimal number of at most 63 bits.
    BadLength = 8,
    /// A Transfer-Encoding with an unknown coding, or with chunked more than once.
    UnknownTransferEncoding = 9,
    /// A chunk-size line without digits, with more than 63 bits, with other bytes, or without CRLF.
    ChunkSize = 10,
    /// Chunk data that is not followed by CRLF.
    ChunkEnd = 11,
    /// A chunk-size line above `Limits::chunk_line_bytes_max`.
    ChunkLineTooLong = 12,
    /// A line after the last chunk that is not a header line.
    TrailerLine = 13,
    /// Trailers above `Limits::trailer_bytes_max`.
    TrailerTooLarge = 14,
    /// Bytes although no response is expected.
    Unasked = 15,
}

impl Malformed {
    /// All variants in the order of their numbers.
    pub const ALL: [Malformed; 15] = [
        Malformed::StatusLine,
        Malformed::Version,
        Malformed::HeaderLine,
        Malformed::HeadTooLarge,
        Malformed::TooManyHeaders,
        Malformed::TooManyInformational,
        Malformed::ConflictingLength,
        Malformed::BadLength,
        Malformed::UnknownTransferEncoding,
        Malformed::ChunkSize,
        Malformed::ChunkEnd,
        Malformed::ChunkLineTooLong,
        Malformed::TrailerLine,
        Malformed::TrailerTooLarge,
        Malformed::Unasked,
    ];

    /// Returns the stable number, 1 to 15.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns a lower-case fragment that says what was received.
    pub const fn sentence(self) -> &'static str {
        match self {
            Malformed::StatusLine => "the first line is not an HTTP status line",
            Malformed::Version => "the HTTP version is neither 1.0 nor 1.1",
            Malformed::HeaderLine => "invalid header line: bad name, control byte, or bare carriage return",
            Malformed::HeadTooLarge => "the head does not end within the limit",
            Malformed::TooManyHeaders => "the head has more header lines than the limit",
            Malformed::TooManyInformational => {
                "more interim responses (1xx) than the limit before a final response"
            }
            Malformed::ConflictingLength => "the head declares two different lengths for one body",
            Malformed::BadLength => "the Content-Length is not a valid length",
            Malformed::UnknownTransferEncoding => "the Transfer-Encoding is unknown, or chunked twice",
            Malformed::ChunkSize => "a chunk-size line is not a hexadecimal number ended by CRLF",
            Malformed::ChunkEnd => "a chunk is not followed by CRLF",
            Malformed::ChunkLineTooLong => "a chunk-size line is longer than the limit",
            Malformed::TrailerLine => "a line after the last chunk is not a header line",
            Malformed::TrailerTooLarge => "the trailers are longer than the limit",
            Malformed::Unasked => "bytes were received without a request",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for Malformed {}
