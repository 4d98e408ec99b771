//! Invalid frames and messages, with one number for each kind, so that a failure can be counted without a string.

use super::close;
use crate::malformed::kinds;

kinds! {
    /// The reason why a socket was refused. It cannot be used any further. The numbers are stable.
    Malformed: 13, u16, close;

    /// A reserved bit that no agreed extension uses (RFC 6455 section 5.2).
    ReservedBits = 1, PROTOCOL_ERROR, "a frame sets a reserved bit that no extension uses";
    /// An opcode from 3 to 7, or from 11 to 15.
    Opcode = 2, PROTOCOL_ERROR, "a frame has an unknown opcode";
    /// A masked frame: only clients mask (section 5.1).
    Masked = 3, PROTOCOL_ERROR, "the server masks its frames, which only a client may do";
    /// A control frame that is not the last of its message (section 5.5).
    FragmentedControl = 4, PROTOCOL_ERROR, "a control frame is fragmented";
    /// A control frame of more than 125 bytes.
    ControlTooLong = 5, PROTOCOL_ERROR, "a control frame is longer than 125 bytes";
    /// A continuation without a message before it (section 5.4).
    StrayContinuation = 6, PROTOCOL_ERROR, "a continuation frame without a message before it";
    /// A new message before the end of the last one.
    Interrupted = 7, PROTOCOL_ERROR, "a message begins before the last one has ended";
    /// A length with its highest bit set (section 5.2).
    Length = 8, PROTOCOL_ERROR, "the length of a frame is not a valid number";
    /// A close frame with a payload of one byte (section 5.5.1).
    ClosePayload = 9, PROTOCOL_ERROR, "a close frame contains half a code";
    /// A close code that must not be sent (section 7.4).
    CloseCode = 10, PROTOCOL_ERROR, "a close frame contains an invalid code";
    /// Text, or the reason of a close frame, that is not UTF-8 (section 8.1).
    Utf8 = 11, INVALID_DATA, "a text message or a close reason is not valid UTF-8";
    /// Compressed data that cannot be decompressed (RFC 7692 section 7.2.2).
    Deflate = 12, INVALID_DATA, "a message cannot be decompressed";
    /// A message above the limit.
    TooLong = 13, TOO_LARGE, "a message is longer than the limit";
}
