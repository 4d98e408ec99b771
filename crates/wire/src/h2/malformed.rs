//! Invalid frames and responses, with one number for each kind, so that a failure can be counted without a string.

use crate::hpack;
use crate::malformed::kinds;

/// Error codes of RST_STREAM and GOAWAY (RFC 9113 section 7).
pub mod code {
    macro_rules! codes {
        ($($(#[doc = $doc:literal])? $name:ident = $number:literal;)+) => {
            $($(#[doc = $doc])? pub const $name: u32 = $number;)+

            /// Returns the name of a code; `None` if RFC 9113 does not define it.
            pub const fn name(code: u32) -> Option<&'static str> {
                match code {
                    $($number => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        };
    }

    codes! {
        NO_ERROR = 0;
        PROTOCOL_ERROR = 1;
        INTERNAL_ERROR = 2;
        FLOW_CONTROL_ERROR = 3;
        SETTINGS_TIMEOUT = 4;
        STREAM_CLOSED = 5;
        FRAME_SIZE_ERROR = 6;
        /// The stream was not processed: the request may be retried.
        REFUSED_STREAM = 7;
        CANCEL = 8;
        COMPRESSION_ERROR = 9;
        CONNECT_ERROR = 10;
        ENHANCE_YOUR_CALM = 11;
        INADEQUATE_SECURITY = 12;
        HTTP_1_1_REQUIRED = 13;
    }
}

kinds! {
    /// The reason why a response or a connection was refused. [`Malformed::is_stream`] says which: a connection
    /// cannot be used any further. The numbers are stable.
    Malformed: 31, u32, code;

    /// The first bytes are a response of HTTP/1.
    Http1 = 1, PROTOCOL_ERROR, "the server responded in HTTP/1";
    /// The first frame is not SETTINGS (RFC 9113 section 3.4).
    Preface = 2, PROTOCOL_ERROR, "the first frame is not SETTINGS";
    /// A frame above `Config::frame_bytes_max` (section 4.2).
    FrameTooLarge = 3, FRAME_SIZE_ERROR, "a frame is longer than the client allows";
    /// A frame whose length does not fit its type.
    FrameLength = 4, FRAME_SIZE_ERROR, "the length of a frame does not fit its type";
    /// A frame on stream 0 that belongs to a stream, or the other way around.
    FrameStream = 5, PROTOCOL_ERROR, "a frame is on a stream that its type does not allow";
    /// Padding as long as the frame, or longer (section 6.1).
    FramePadding = 6, PROTOCOL_ERROR, "the padding of a frame is longer than its content";
    /// A frame of a stream that was never opened (section 5.1.1).
    UnknownStream = 7, PROTOCOL_ERROR, "a frame belongs to a stream that was never opened";
    /// A header block that is interrupted by another frame (section 6.10).
    BlockInterrupted = 8, PROTOCOL_ERROR, "another frame interrupts a header block";
    /// CONTINUATION without a header block before it.
    StrayContinuation = 9, PROTOCOL_ERROR, "CONTINUATION without HEADERS before it";
    /// Server push, which the client's SETTINGS refuse (section 8.4).
    Push = 10, PROTOCOL_ERROR, "the server pushes although the client refused it";
    /// A setting with an invalid value (section 6.5.2).
    SettingValue = 11, PROTOCOL_ERROR, "a setting has an invalid value";
    /// SETTINGS_INITIAL_WINDOW_SIZE that is above 2^31 - 1, or that makes a window larger.
    SettingWindow = 12, FLOW_CONTROL_ERROR, "SETTINGS_INITIAL_WINDOW_SIZE exceeds the largest window";
    /// WINDOW_UPDATE of 0 on the connection (section 6.9).
    ConnectionUpdate = 13, PROTOCOL_ERROR, "WINDOW_UPDATE of 0 for the connection";
    /// WINDOW_UPDATE that makes the connection's window larger than 2^31 - 1.
    ConnectionWindow = 14, FLOW_CONTROL_ERROR, "WINDOW_UPDATE exceeds the connection's largest window";
    /// More data than the connection's window allows.
    ConnectionFlow = 15, FLOW_CONTROL_ERROR, "more data than the connection's window allows";
    /// An invalid header block (section 4.3): the state of the compression is lost.
    Compression = 16, COMPRESSION_ERROR, "invalid header compression (HPACK)";
    /// A header block whose coded bytes, or a head whose decoded bytes, are many times `Limits::head_bytes_max`.
    HeadBomb = 17, ENHANCE_YOUR_CALM, "a header block is many times larger than the limit";
    /// More frames without progress than `Limits::overhead_frames_max`.
    Flood = 18, ENHANCE_YOUR_CALM, "a flood of frames without content";

    /// More data than the stream's window allows.
    StreamFlow = 19, FLOW_CONTROL_ERROR, "more data than the stream's window allows";
    /// WINDOW_UPDATE of 0 on a stream.
    StreamUpdate = 20, PROTOCOL_ERROR, "WINDOW_UPDATE of 0 for a stream";
    /// WINDOW_UPDATE that makes a stream's window larger than 2^31 - 1.
    StreamWindow = 21, FLOW_CONTROL_ERROR, "WINDOW_UPDATE exceeds a stream's largest window";
    /// A head without `:status`, with two, or with one that is not 100 to 999; or 101, which HTTP/2 does not have.
    Status = 22, PROTOCOL_ERROR, "the head has no valid `:status`";
    /// A pseudo-header field that is unknown, after another field, or in trailers (section 8.3).
    PseudoField = 23, PROTOCOL_ERROR, "invalid pseudo-header field";
    /// A field with an invalid name, or with a zero byte or a line end in its value (section 8.2.1).
    FieldBytes = 24, PROTOCOL_ERROR, "invalid header field: bad name, upper case, or control byte";
    /// A field of the connection, such as Transfer-Encoding (section 8.2.2).
    ConnectionField = 25, PROTOCOL_ERROR, "a header field that HTTP/2 does not have, such as Transfer-Encoding";
    /// A Content-Length that is not one plain decimal number of at most 63 bits.
    BadLength = 26, PROTOCOL_ERROR, "the Content-Length is not one valid length";
    /// A body that is shorter or longer than its Content-Length (section 8.1.1).
    WrongLength = 27, PROTOCOL_ERROR, "the body is shorter or longer than its Content-Length";
    /// A head, trailers, or a number of fields above the limit.
    HeadTooLarge = 28, ENHANCE_YOUR_CALM, "the head or the trailers exceed a limit";
    /// More interim responses than `Limits::informational_max`.
    TooManyInformational = 29, ENHANCE_YOUR_CALM,
        "more interim responses (1xx) than the limit before a final response";
    /// DATA before the final head, or an interim head that ends the stream.
    NoHead = 30, PROTOCOL_ERROR, "a body or the end of the stream without a final head";
    /// A second final head: trailers that do not end the stream.
    SecondHead = 31, PROTOCOL_ERROR, "trailers that do not end the stream";
}

impl Malformed {
    /// Returns whether only one stream is refused, and its connection continues.
    pub const fn is_stream(self) -> bool {
        self.number() >= Malformed::StreamFlow.number()
    }
}

impl From<hpack::Error> for Malformed {
    fn from(error: hpack::Error) -> Malformed {
        match error {
            hpack::Error::TooLarge => Malformed::HeadBomb,
            _ => Malformed::Compression,
        }
    }
}
