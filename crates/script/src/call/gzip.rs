//! gzip (RFC 1952) for messages: state and buffers of a thread, which are reused.

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use std::cell::Cell;

/// The header of a stream without a name and without a time.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Bytes of output that are made available at once.
const STEP: usize = 4096;

struct Tools {
    deflate: Compress,
    plain: Vec<u8>,
}

thread_local! {
    static TOOLS: Cell<Option<Box<Tools>>> = const { Cell::new(None) };
}

/// Appends what `put` appends, compressed.
///
/// # Errors
/// Returns the error of `put`.
pub fn compress<E>(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
    let mut tools = TOOLS.take().unwrap_or_else(|| {
        Box::new(Tools { deflate: Compress::new(Compression::fast(), false), plain: Vec::new() })
    });
    tools.plain.clear();
    let result = put(&mut tools.plain);
    if result.is_ok() {
        let Tools { deflate, plain } = &mut *tools;
        deflate.reset();
        out.extend_from_slice(&HEADER);
        loop {
            out.reserve(STEP);
            let read = deflate.total_in() as usize;
            // Compression into memory fails only if the state is misused, which a test would show.
            match deflate.compress_vec(&plain[read.min(plain.len())..], out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) | Err(_) => break,
                Ok(Status::Ok | Status::BufError) => {}
            }
        }
        let mut crc = Crc::new();
        crc.update(plain);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    }
    TOOLS.set(Some(tools));
    result
}

/// A decoder of messages, created at its first use.
#[derive(Default)]
pub struct Gzip {
    inflate: Option<Box<Decompress>>,
    out: Vec<u8>,
}

/// Why a message could not be decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    Invalid,
    /// It has more bytes than the limit.
    TooLong,
}

impl Gzip {
    /// Decompresses a message of at most `most_bytes`.
    pub fn decode(&mut self, coded: &[u8], most_bytes: usize) -> Result<&[u8], Broken> {
        let body = after_header(coded).ok_or(Broken::Invalid)?;
        let inflate = self.inflate.get_or_insert_with(|| Box::new(Decompress::new(false)));
        inflate.reset(false);
        self.out.clear();
        loop {
            self.out.reserve(STEP);
            let (read, len) = (inflate.total_in() as usize, self.out.len());
            let rest = body.get(read..).unwrap_or_default();
            match inflate.decompress_vec(rest, &mut self.out, FlushDecompress::None) {
                Ok(Status::StreamEnd) => break,
                Ok(Status::Ok | Status::BufError) if self.out.len() > most_bytes => {
                    return Err(Broken::TooLong);
                }
                // Without progress, the stream is cut.
                Ok(Status::Ok | Status::BufError)
                    if inflate.total_in() as usize == read && self.out.len() == len =>
                {
                    return Err(Broken::Invalid);
                }
                Ok(Status::Ok | Status::BufError) => {}
                Err(_) => return Err(Broken::Invalid),
            }
        }
        if self.out.len() > most_bytes {
            return Err(Broken::TooLong);
        }
        let mut crc = Crc::new();
        crc.update(&self.out);
        let end = body.get(inflate.total_in() as usize..).unwrap_or_default();
        // The checksum, and then the length.
        let is_whole = end.len() == 8
            && end[..4] == crc.sum().to_le_bytes()
            && end[4..] == (self.out.len() as u32).to_le_bytes();
        if !is_whole {
            return Err(Broken::Invalid);
        }
        Ok(&self.out)
    }
}

/// Returns the bytes after the header of a stream.
fn after_header(coded: &[u8]) -> Option<&[u8]> {
    const TEXT: u8 = 1;
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let (&[0x1f, 0x8b, 8, flags, ..], mut rest) = coded.split_first_chunk::<10>()? else { return None };
    if flags & !(TEXT | CRC | EXTRA | NAME | COMMENT) != 0 {
        return None;
    }
    if flags & EXTRA != 0 {
        let (len, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*len))..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & CRC != 0 { rest.get(2..) } else { Some(rest) }
}

#[cfg(test)]
mod tests;
