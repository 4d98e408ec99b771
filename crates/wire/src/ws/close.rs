//! Close codes (RFC 6455 section 7.4, and the registry of IANA).

/// The purpose of the connection is fulfilled.
pub const NORMAL: u16 = 1000;
/// The endpoint goes away: a server shuts down, or a client leaves.
pub const GOING_AWAY: u16 = 1001;
pub const PROTOCOL_ERROR: u16 = 1002;
/// Never sent: a close frame without a code.
pub const NO_CODE: u16 = 1005;
/// Never sent: the connection ended without a close frame.
pub const ABNORMAL: u16 = 1006;
pub const INVALID_DATA: u16 = 1007;
pub const TOO_LARGE: u16 = 1009;

/// Returns whether a close frame may contain this code.
pub const fn is_sendable(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// Returns whether a code says that nothing went wrong.
pub const fn is_usual(code: u16) -> bool {
    matches!(code, NORMAL | GOING_AWAY | NO_CODE)
}

/// Returns the name of a code in the registry; `None` for a code without one.
pub const fn name(code: u16) -> Option<&'static str> {
    Some(match code {
        NORMAL => "normal closure",
        GOING_AWAY => "going away",
        PROTOCOL_ERROR => "protocol error",
        1003 => "unsupported data",
        NO_CODE => "no code",
        ABNORMAL => "no close frame",
        INVALID_DATA => "invalid data",
        1008 => "policy violation",
        TOO_LARGE => "message too large",
        1010 => "missing extension",
        1011 => "internal error",
        1012 => "service restart",
        1013 => "try again later",
        1014 => "bad gateway",
        _ => return None,
    })
}
