//! Compressed bodies and their cache. After the first time, a compressed response costs the ruler no more than a
//! plain one.

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;

/// The largest body that is compressed, in bytes.
pub(crate) const PLAIN_MOST: u64 = 16 << 20;
/// Size of the cache; another body clears it.
const REMEMBERED_MOST: usize = 32;

/// A content coding (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Name in the header, and coding.
const ENCODINGS: [(&str, Encoding); 4] = [
    ("gzip", Encoding::Gzip),
    ("deflate", Encoding::Deflate),
    ("br", Encoding::Brotli),
    ("zstd", Encoding::Zstd),
];

/// The source of a cached body.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// This number of bytes of the pattern.
    Pattern(u64),
    Text(Rc<str>),
}

impl Encoding {
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, String> {
        if text == "none" {
            return Ok(None);
        }
        let found = ENCODINGS.iter().find(|row| row.0 == text).map(|row| Some(row.1));
        found.ok_or_else(|| format!("unknown encoding `{text}`: expected gzip, deflate, br, zstd, or none"))
    }

    pub(crate) fn name(self) -> &'static str {
        ENCODINGS.iter().find(|row| row.1 == self).map_or("identity", |row| row.0)
    }

    /// Compresses; the error is a sentence.
    pub(crate) fn press(self, plain: &[u8]) -> Result<Vec<u8>, String> {
        let pressed = match self {
            Encoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).and_then(|()| encoder.finish())
            }
            // "deflate" in HTTP is the zlib format (RFC 9110, 8.4.1.2), not the bare stream of RFC 1951.
            Encoding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).and_then(|()| encoder.finish())
            }
            Encoding::Brotli => {
                let mut pressed = Vec::new();
                // Quality 5 of 11: the highest would stop the loop for seconds on a large body.
                let mut encoder = brotli::CompressorWriter::new(&mut pressed, 64 << 10, 5, 22);
                let written = encoder.write_all(plain).and_then(|()| encoder.flush());
                // Dropping the encoder writes the last block.
                drop(encoder);
                written.map(|()| pressed)
            }
            Encoding::Zstd => zstd::bulk::compress(plain, 3),
        };
        pressed.map_err(|error| format!("cannot compress with {}: {error}", self.name()))
    }
}

/// Compressed bodies by encoding and source.
#[derive(Default)]
pub(crate) struct Pressed {
    bodies: HashMap<(Encoding, Source), Rc<[u8]>>,
}

impl Pressed {
    /// Returns the compressed body, from `plain` and [`Encoding::press`] if it is not in the cache.
    pub(crate) fn get(
        &mut self,
        encoding: Encoding,
        source: Source,
        plain: impl FnOnce() -> Vec<u8>,
    ) -> Result<Rc<[u8]>, String> {
        let key = (encoding, source);
        if let Some(body) = self.bodies.get(&key) {
            return Ok(body.clone());
        }
        let body: Rc<[u8]> = encoding.press(&plain())?.into();
        if self.bodies.len() >= REMEMBERED_MOST {
            self.bodies.clear();
        }
        self.bodies.insert(key, body.clone());
        Ok(body)
    }
}
