//! Frames of a client: one head, and the masked payload (RFC 6455 sections 5.2 and 5.3).

/// Longest payload of a control frame, bytes.
pub const CONTROL_BYTES_MAX: usize = 125;

/// The kind of a frame that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Binary,
    Ping,
    Pong,
    Close,
}

impl Kind {
    /// Returns whether it is a control frame.
    pub const fn is_control(self) -> bool {
        matches!(self, Kind::Ping | Kind::Pong | Kind::Close)
    }

    const fn opcode(self) -> u8 {
        match self {
            Kind::Text => 1,
            Kind::Binary => 2,
            Kind::Close => 8,
            Kind::Ping => 9,
            Kind::Pong => 10,
        }
    }
}

/// Appends a whole message as one masked frame. `is_compressed` sets the first reserved bit (RFC 7692 section 6).
pub fn write_frame(kind: Kind, is_compressed: bool, payload: &[u8], mask: [u8; 4], out: &mut Vec<u8>) {
    const FIN: u8 = 0x80;
    const RSV1: u8 = 0x40;
    const MASKED: u8 = 0x80;
    out.reserve(14 + payload.len());
    out.push(FIN | if is_compressed { RSV1 } else { 0 } | kind.opcode());
    match payload.len() {
        len @ 0..=125 => out.push(MASKED | len as u8),
        len @ 126..=0xffff => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
    let begin = out.len();
    out.extend_from_slice(payload);
    apply_mask(&mut out[begin..], mask);
}

/// Masks or unmasks a payload from its first byte, eight bytes at a time.
pub fn apply_mask(payload: &mut [u8], mask: [u8; 4]) {
    let word = u32::from_ne_bytes(mask);
    let wide = u64::from(word) << 32 | u64::from(word);
    let mut pieces = payload.chunks_exact_mut(8);
    for piece in pieces.by_ref() {
        // proof: a piece has exactly eight bytes
        let mut eight = [0; 8];
        eight.copy_from_slice(piece);
        piece.copy_from_slice(&(u64::from_ne_bytes(eight) ^ wide).to_ne_bytes());
    }
    for (at, byte) in pieces.into_remainder().iter_mut().enumerate() {
        *byte ^= mask[at % 4];
    }
}
