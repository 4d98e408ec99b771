//! Decodes content encodings (RFC 9110 section 8.4) of responses that are read. The decoded length has a limit, because
//! a few kilobytes can decode to gigabytes.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use plimsoll_plan::head::Head;
use plimsoll_plan::phrase::counted;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fmt;
use std::io::Read;

/// Maximum number of nested encodings.
const CODINGS_MAX: usize = 4;
/// Initial capacity of a decoded body, in bytes.
const FIRST_ROOM_BYTES: usize = 16_384;

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// An unknown encoding.
    Unknown,
    TooMany,
    Broken(Coding),
    TooLong {
        most_bytes: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Unknown => {
                f.write_str("its content encoding is not `gzip`, `deflate`, `br`, or `zstd`")
            }
            Unreadable::TooMany => write!(f, "it has more than {CODINGS_MAX} content encodings"),
            Unreadable::Broken(coding) => write!(f, "it is not valid `{}`", coding.name()),
            Unreadable::TooLong { most_bytes } => {
                write!(f, "its decoded size exceeds {}", counted(*most_bytes as u64, "byte"))
            }
        }
    }
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    /// Returns `Ok(None)` for `identity`.
    fn named(name: &[u8]) -> Result<Option<Coding>, Unreadable> {
        const NAMES: [(&str, Coding); 5] = [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("br", Coding::Brotli),
            ("zstd", Coding::Zstd),
        ];
        if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
            return Ok(None);
        }
        let row = NAMES.iter().find(|row| name.eq_ignore_ascii_case(row.0.as_bytes()));
        row.map(|row| Some(row.1)).ok_or(Unreadable::Unknown)
    }
}

/// Decodes a body by the encodings that its head names; returns a copy, even if it has none.
///
/// # Errors
/// Returns the end of a sentence about the body, such as that it is not valid `gzip`.
pub fn decoded(head: Head<'_>, body: &[u8], most_bytes: usize) -> Result<Vec<u8>, String> {
    let mut decoder = Decoder::default();
    decoder.decode(head, body, most_bytes).map(<[u8]>::to_vec).map_err(|unreadable| unreadable.to_string())
}

/// Decoders and their buffers, created at their first use and reused.
#[derive(Default)]
pub struct Decoder {
    out: Vec<u8>,
    between: Vec<u8>,
    inflate: Option<Box<Decompress>>,
    zstd: Option<Box<FrameDecoder>>,
}

impl Decoder {
    /// Decodes a body. Returns the body itself if it has no encoding.
    pub fn decode<'b>(
        &'b mut self,
        head: Head<'_>,
        body: &'b [u8],
        most_bytes: usize,
    ) -> Result<&'b [u8], Unreadable> {
        let mut codings = [Coding::Gzip; CODINGS_MAX];
        let mut count = 0;
        for field in head.fields("content-encoding") {
            for name in field.split(|sign| *sign == b',') {
                if let Some(coding) = Coding::named(name.trim_ascii())? {
                    *codings.get_mut(count).ok_or(Unreadable::TooMany)? = coding;
                    count += 1;
                }
            }
        }
        // An empty body stays empty: responses to HEAD and with 204 may name encodings of bodies that they do not have.
        if count == 0 || body.is_empty() {
            return Ok(body);
        }
        let mut out = std::mem::take(&mut self.out);
        let mut between = std::mem::take(&mut self.between);
        // They are listed in the order of encoding, so decoding starts with the last.
        let mut result = Ok(());
        for (done, coding) in codings[..count].iter().rev().enumerate() {
            std::mem::swap(&mut out, &mut between);
            out.clear();
            let input = if done == 0 { body } else { &between };
            result = self.undo(*coding, input, &mut out, most_bytes);
            if result.is_err() {
                break;
            }
        }
        (self.out, self.between) = (out, between);
        result.map(|()| &self.out[..])
    }

    /// Returns the last decoded body.
    pub fn last(&self) -> &[u8] {
        &self.out
    }

    fn undo(
        &mut self,
        coding: Coding,
        input: &[u8],
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), Unreadable> {
        out.reserve(FIRST_ROOM_BYTES.min(most));
        match coding {
            Coding::Gzip => self.gunzip(input, out, most),
            Coding::Deflate => {
                // The standard requires the zlib format (RFC 9110 section 8.4.1.2), but some servers send raw DEFLATE.
                let is_zlib = matches!(input, [first, second, ..]
                    if first & 15 == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31));
                let undone = match is_zlib {
                    true => self.inflate(true, input, out, most),
                    false => Err(Unreadable::Broken(Coding::Deflate)),
                };
                match undone {
                    Err(Unreadable::Broken(_)) => {
                        out.clear();
                        self.inflate(false, input, out, most).map(|_| ())
                    }
                    other => other.map(|_| ()),
                }
            }
            Coding::Brotli => {
                let mut reader = brotli_decompressor::Decompressor::new(input, 4096);
                read_all(&mut reader, out, most, Coding::Brotli)
            }
            Coding::Zstd => self.unzstd(input, out, most),
        }
    }

    /// Decodes DEFLATE (RFC 1951), in the zlib format (RFC 1950) or raw. Returns the number of bytes used.
    fn inflate(
        &mut self,
        zlib: bool,
        input: &[u8],
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<usize, Unreadable> {
        let state = self.inflate.get_or_insert_with(|| Box::new(Decompress::new(zlib)));
        state.reset(zlib);
        loop {
            let used = state.total_in() as usize;
            let before = (state.total_in(), state.total_out());
            let status = state.decompress_vec(&input[used..], out, FlushDecompress::None);
            if out.len() > most {
                return Err(Unreadable::TooLong { most_bytes: most });
            }
            match status {
                Ok(Status::StreamEnd) => return Ok(state.total_in() as usize),
                Ok(_) if out.len() == out.capacity() => out.reserve(out.len().max(FIRST_ROOM_BYTES)),
                // There is space but no progress, so the end of the data is missing.
                Ok(_) if before == (state.total_in(), state.total_out()) => break,
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Err(Unreadable::Broken(Coding::Deflate))
    }

    /// Decodes gzip (RFC 1952): a sequence of members, each with a checksum.
    fn gunzip(&mut self, input: &[u8], out: &mut Vec<u8>, most: usize) -> Result<(), Unreadable> {
        let broken = || Unreadable::Broken(Coding::Gzip);
        let mut rest = input;
        loop {
            let begin = out.len();
            rest = &rest[gzip_header_bytes(rest).ok_or_else(broken)?..];
            let used = self.inflate(false, rest, out, most).map_err(|error| match error {
                Unreadable::Broken(_) => broken(),
                other => other,
            })?;
            let mut crc = Crc::new();
            crc.update(&out[begin..]);
            let (trailer, behind) = rest[used..].split_at_checked(8).ok_or_else(broken)?;
            let length = (out.len() - begin) as u32;
            if trailer[..4] != crc.sum().to_le_bytes() || trailer[4..] != length.to_le_bytes() {
                return Err(broken());
            }
            rest = behind;
            // As in gzip, anything that is not another member is padding.
            if !rest.starts_with(b"\x1f\x8b") {
                return Ok(());
            }
        }
    }

    /// Decodes zstd (RFC 8878): a sequence of frames.
    fn unzstd(&mut self, input: &[u8], out: &mut Vec<u8>, most: usize) -> Result<(), Unreadable> {
        let mut rest = input;
        while !rest.is_empty() {
            let frame = self.zstd.get_or_insert_with(|| {
                let mut frame = FrameDecoder::new();
                // RFC 9659: the largest window that a sender may use on the web.
                frame.set_max_window_size(8 << 20);
                Box::new(frame)
            });
            let broken = |_| Unreadable::Broken(Coding::Zstd);
            let mut reader = StreamingDecoder::new_with_decoder(&mut rest, &mut **frame).map_err(broken)?;
            read_all(&mut reader, out, most, Coding::Zstd)?;
            let sums = (frame.get_checksum_from_data(), frame.get_calculated_checksum());
            if let (Some(sent), Some(found)) = sums
                && sent != found
            {
                return Err(Unreadable::Broken(Coding::Zstd));
            }
        }
        Ok(())
    }
}

/// Reads to the end, but at most one byte beyond `most`.
fn read_all(from: &mut impl Read, out: &mut Vec<u8>, most: usize, coding: Coding) -> Result<(), Unreadable> {
    let room = (most + 1).saturating_sub(out.len());
    from.take(room as u64).read_to_end(out).map_err(|_| Unreadable::Broken(coding))?;
    if out.len() > most { Err(Unreadable::TooLong { most_bytes: most }) } else { Ok(()) }
}

/// Returns the length of the header of a member (RFC 1952 section 2.3).
fn gzip_header_bytes(text: &[u8]) -> Option<usize> {
    const HEADER_CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let fixed = text.get(..10).filter(|fixed| fixed.starts_with(b"\x1f\x8b\x08"))?;
    let flags = fixed[3];
    let mut at = 10;
    if flags & EXTRA != 0 {
        let length = text.get(at..at + 2)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            at += memchr::memchr(0, text.get(at..)?)? + 1;
        }
    }
    if flags & HEADER_CRC != 0 {
        at += 2;
    }
    (at <= text.len()).then_some(at)
}
