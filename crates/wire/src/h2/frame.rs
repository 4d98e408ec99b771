//! The head of a frame (RFC 9113 section 4.1): reading one, and writing one.

/// Types of frames (section 6).
pub(super) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
    /// The first one that has no meaning here.
    pub const UNKNOWN: u8 = 10;
}

pub(super) mod flag {
    pub const ACK: u8 = 0x1;
    pub const END_STREAM: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// Bytes of a frame's head.
pub(super) const HEAD_BYTES: usize = 9;

/// Largest payload that is sent: every receiver accepts it (section 4.2).
pub(super) const PAYLOAD_MAX: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct Frame {
    pub stream: u32,
    pub len: u32,
    pub kind: u8,
    pub flags: u8,
}

impl Frame {
    /// Reads a head in place: copying the whole would wait for the stores of its parts.
    #[inline]
    pub fn read(&mut self, head: &[u8; HEAD_BYTES]) {
        let [a, b, c, kind, flags, stream @ ..] = *head;
        self.len = u32::from_be_bytes([0, a, b, c]);
        (self.kind, self.flags) = (kind, flags);
        // The reserved bit must be ignored.
        self.stream = u32::from_be_bytes(stream) & 0x7fff_ffff;
    }

    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Returns the bytes of a frame's head; `len` is at most 2^24 - 1.
#[inline]
pub(super) fn head(len: usize, kind: u8, flags: u8, stream: u32) -> [u8; HEAD_BYTES] {
    let [_, a, b, c] = (len as u32).to_be_bytes();
    let [s, t, u, v] = stream.to_be_bytes();
    [a, b, c, kind, flags, s, t, u, v]
}

/// Appends a frame whose payload is one number.
pub(super) fn put_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    out.extend_from_slice(&head(4, kind, 0, stream));
    out.extend_from_slice(&number.to_be_bytes());
}

/// Reads the number at the beginning of a payload.
#[inline]
pub(super) fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
