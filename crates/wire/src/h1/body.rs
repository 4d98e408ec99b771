//! The three ways a body ends: after a number of bytes, with the connection, or with the last chunk.

use super::framing::LENGTH_MAX;
use super::session::{Phase, Session, Step};
use super::{Limits, Malformed, Sink};

impl Session {
    #[inline]
    pub(super) fn feed_length<S: Sink>(&mut self, rest: &[u8], sink: &mut S) -> Step {
        let taken = self.payload(rest, sink);
        (taken, self.left == 0)
    }

    pub(super) fn feed_until_close<S: Sink>(&mut self, rest: &[u8], sink: &mut S) -> Step {
        if S::READS {
            sink.body(rest);
        }
        self.body_bytes += rest.len() as u64;
        (rest.len(), false)
    }

    /// Takes at most `left` bytes, without touching them unless the sink reads.
    #[inline]
    fn payload<S: Sink>(&mut self, rest: &[u8], sink: &mut S) -> usize {
        // `left` may exceed the address space of a 32-bit machine; the smaller of both never does.
        let taken = self.left.min(rest.len() as u64);
        if S::READS {
            sink.body(&rest[..taken as usize]);
        }
        self.left -= taken;
        self.body_bytes += taken;
        taken as usize
    }

    /// Reads chunk lines and trailers byte by byte, and chunk data in one step (RFC 9112 section 7.1).
    ///
    /// Chunk lines must end in CRLF: after a lone LF, two readers could disagree about what is extension and what is
    /// data. Trailers may end in LF alone, like the lines of the head.
    #[inline(never)]
    pub(super) fn feed_chunked<S: Sink>(
        &mut self,
        rest: &[u8],
        limits: &Limits,
        sink: &mut S,
    ) -> Result<Step, Malformed> {
        let mut at = 0;
        while let Some(&byte) = rest.get(at) {
            if self.phase == Phase::ChunkData {
                at += self.payload(&rest[at..], sink);
                if self.left == 0 {
                    self.phase = Phase::ChunkDataCr;
                }
                continue;
            }
            at += 1;
            self.phase = match self.phase {
                Phase::ChunkSize | Phase::ChunkPad | Phase::ChunkExtension => {
                    self.chunk_line(byte, limits)?
                }
                Phase::ChunkSizeLf if byte != b'\n' => return Err(Malformed::ChunkSize),
                Phase::ChunkSizeLf => {
                    self.count = 0;
                    if self.left == 0 { Phase::TrailerStart } else { Phase::ChunkData }
                }
                Phase::ChunkDataCr if byte == b'\r' => Phase::ChunkDataLf,
                Phase::ChunkDataLf if byte == b'\n' => Phase::ChunkSize,
                Phase::ChunkDataCr | Phase::ChunkDataLf => return Err(Malformed::ChunkEnd),
                _ => match self.trailer(byte, limits)? {
                    Some(phase) => phase,
                    None => return Ok((at, true)),
                },
            };
        }
        Ok((at, false))
    }

    /// Reads one byte of `1*HEXDIG [ space ] [ ";" extensions ] CR`. Some servers pad the size with spaces.
    #[inline]
    fn chunk_line(&mut self, byte: u8, limits: &Limits) -> Result<Phase, Malformed> {
        // In `ChunkSize` only digits are counted, so a count of 0 means no digit yet.
        let sized = self.phase != Phase::ChunkSize || self.count > 0;
        let phase = match (self.phase, byte) {
            (_, b'\r') if sized => return Ok(Phase::ChunkSizeLf),
            (Phase::ChunkSize, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if self.left > LENGTH_MAX >> 4 {
                    return Err(Malformed::ChunkSize);
                }
                // For both cases of a letter, the low four bits are its value less 9.
                let digit = if byte.is_ascii_digit() { byte - b'0' } else { (byte & 0xf) + 9 };
                self.left = self.left << 4 | u64::from(digit);
                Phase::ChunkSize
            }
            (Phase::ChunkSize | Phase::ChunkPad, b' ' | b'\t') if sized => Phase::ChunkPad,
            (Phase::ChunkSize | Phase::ChunkPad, b';') if sized => Phase::ChunkExtension,
            (Phase::ChunkExtension, b'\t' | b' '..=b'~' | 0x80..) => Phase::ChunkExtension,
            _ => return Err(Malformed::ChunkSize),
        };
        self.count += 1;
        if self.count as usize > limits.chunk_line_bytes_max {
            return Err(Malformed::ChunkLineTooLong);
        }
        Ok(phase)
    }

    /// Reads one byte after the last chunk: header lines, then an empty one. Returns `None` at the end.
    fn trailer(&mut self, byte: u8, limits: &Limits) -> Result<Option<Phase>, Malformed> {
        // The empty line belongs to the chunked coding, not to the trailers: having no trailers is always within the
        // limit.
        let (empty_line, cr) = (self.phase == Phase::TrailerStart && byte == b'\n', byte == b'\r');
        if empty_line || (self.phase == Phase::TrailerEndLf && byte == b'\n') {
            return Ok(None);
        }
        let phase = match (self.phase, byte) {
            (Phase::TrailerStart, _) if cr => return Ok(Some(Phase::TrailerEndLf)),
            (Phase::TrailerStart | Phase::TrailerName, _) if is_token(byte) => Phase::TrailerName,
            (Phase::TrailerName, b':') => Phase::TrailerValue,
            (Phase::TrailerValue, b'\t' | b' '..=b'~' | 0x80..) => Phase::TrailerValue,
            (Phase::TrailerValue, b'\r') => Phase::TrailerLf,
            (Phase::TrailerValue | Phase::TrailerLf, b'\n') => Phase::TrailerStart,
            _ => return Err(Malformed::TrailerLine),
        };
        self.count += 1;
        if self.count as usize > limits.trailer_bytes_max {
            return Err(Malformed::TrailerTooLarge);
        }
        Ok(Some(phase))
    }
}

/// Returns whether header names and methods may contain the byte (RFC 9110 section 5.6.2).
pub(crate) const fn is_token(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
        || matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_')
        || matches!(byte, b'`' | b'|' | b'~')
}
