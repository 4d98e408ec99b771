//! A second, independent reading of the bytes in both directions, so that arrivals, responses, and
//! resets are stamped and counted by the frames on the wire, and not by the reports of the HTTP/2 library.

/// The kinds of frames that matter here (RFC 9113, section 6).
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
/// The same bit on SETTINGS and PING.
pub(super) const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

const HEAD: usize = 9;
/// The client's bytes before its first frame (section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Maximum payload that is read.
const PAYLOAD_MOST: usize = 1 << 10;

/// A complete frame.
pub(super) struct Seen<'a> {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    /// Of the payload, with padding.
    pub(super) bytes: u32,
    /// Empty for DATA and header blocks.
    pub(super) payload: &'a [u8],
    /// This frame ends its stream in this direction.
    pub(super) ends_stream: bool,
    /// How many of the bytes fed belong to this frame or to earlier ones.
    pub(super) at: usize,
}

impl Seen<'_> {
    /// Returns the number at `at` of the payload; 0 if it is too short.
    pub(super) fn number(&self, at: usize) -> u32 {
        let bytes = self.payload.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
        bytes.map_or(0, u32::from_be_bytes)
    }
}

/// Walks over the frames of one direction.
#[derive(Default)]
pub(super) struct Walk {
    skip: usize,
    head: [u8; HEAD],
    /// Received bytes of the head.
    got: usize,
    /// Missing bytes of the payload.
    left: usize,
    payload: Vec<u8>,
    /// Its HEADERS said END_STREAM, and more of its header block follows.
    ending: Option<u32>,
}

impl Walk {
    /// `skip` bytes come before the first frame.
    pub(super) fn after(skip: usize) -> Self {
        Walk { skip, ..Walk::default() }
    }

    /// Returns true between two frames.
    pub(super) fn is_between(&self) -> bool {
        self.got == 0
    }

    /// Reports each frame that ends within `bytes`.
    pub(super) fn feed(&mut self, bytes: &[u8], mut report: impl FnMut(&Seen<'_>)) {
        let mut at = self.skip.min(bytes.len());
        self.skip -= at;
        while at < bytes.len() {
            if self.got < HEAD {
                let taken = (HEAD - self.got).min(bytes.len() - at);
                self.head[self.got..self.got + taken].copy_from_slice(&bytes[at..at + taken]);
                self.got += taken;
                at += taken;
                if self.got < HEAD {
                    return;
                }
                let [a, b, c, ..] = self.head;
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                self.payload.clear();
            }
            let taken = self.left.min(bytes.len() - at);
            if !matches!(self.head[3], DATA | HEADERS | CONTINUATION) {
                let room = PAYLOAD_MOST.saturating_sub(self.payload.len()).min(taken);
                self.payload.extend_from_slice(&bytes[at..at + room]);
            }
            self.left -= taken;
            at += taken;
            if self.left == 0 {
                self.got = 0;
                self.report(at, &mut report);
            }
        }
    }

    fn report(&mut self, at: usize, report: &mut impl FnMut(&Seen<'_>)) {
        let [a, b, c, kind, flags, d, e, f, g] = self.head;
        let stream = u32::from_be_bytes([d & 0x7f, e, f, g]);
        let whole = flags & END_HEADERS != 0;
        let ends_stream = match kind {
            DATA => flags & END_STREAM != 0,
            HEADERS if flags & END_STREAM != 0 && !whole => {
                self.ending = Some(stream);
                false
            }
            HEADERS => flags & END_STREAM != 0,
            CONTINUATION if whole => self.ending.take() == Some(stream),
            _ => false,
        };
        let bytes = u32::from_be_bytes([0, a, b, c]);
        report(&Seen { kind, flags, stream, bytes, payload: &self.payload, ends_stream, at });
    }
}

/// A GOAWAY frame (section 6.8).
pub(super) fn goaway(last: u32, code: u32) -> Vec<u8> {
    let mut frame = vec![0, 0, 8, GOAWAY, 0, 0, 0, 0, 0];
    frame.extend_from_slice(&last.to_be_bytes());
    frame.extend_from_slice(&code.to_be_bytes());
    frame
}

/// A second response: HEADERS with `:status: 200` (entry 8 of the static table, RFC 7541) that end the stream.
pub(super) fn second_response(stream: u32) -> Vec<u8> {
    let mut frame = vec![0, 0, 1, HEADERS, END_STREAM | END_HEADERS];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.push(0x88);
    frame
}
