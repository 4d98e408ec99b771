//! Hashes of bodies.

use md5::{Digest, Md5};
use plimsoll_plan::answer::Hash;
use sha1::Sha1;
use sha2::Sha256;

/// Longest of the hashes, in bytes.
const BYTES_MAX: usize = 32;

/// The expected hash of a body.
#[derive(Debug)]
pub(super) struct Expected {
    algorithm: Hash,
    bytes: Vec<u8>,
}

impl Expected {
    /// Parses a hash in hexadecimal digits.
    ///
    /// # Errors
    /// Returns an error if `hex` is not a hash of this kind.
    pub fn compile(algorithm: Hash, hex: &str) -> Result<Expected, String> {
        let (name, length) = match algorithm {
            Hash::Md5 => ("MD5", 16),
            Hash::Sha1 => ("SHA-1", 20),
            Hash::Sha256 => ("SHA-256", 32),
        };
        let pairs = hex.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| {
            let digit = |at: usize| pair.get(at).and_then(|sign| char::from(*sign).to_digit(16));
            Some((digit(0)? << 4 | digit(1)?) as u8)
        });
        match bytes.collect::<Option<Vec<u8>>>() {
            Some(bytes) if bytes.len() == length => Ok(Expected { algorithm, bytes }),
            _ => Err(format!("invalid {name} hash `{hex}`: expected {} hexadecimal digits", 2 * length)),
        }
    }

    /// Checks the hash of a body. Returns its actual hash if it differs.
    pub fn holds(&self, body: &[u8]) -> Result<(), Found> {
        let mut bytes = [0; BYTES_MAX];
        let found = &mut bytes[..self.bytes.len()];
        // proof: `compile` has made the lengths equal.
        match self.algorithm {
            Hash::Md5 => found.copy_from_slice(&Md5::digest(body)),
            Hash::Sha1 => found.copy_from_slice(&Sha1::digest(body)),
            Hash::Sha256 => found.copy_from_slice(&Sha256::digest(body)),
        }
        if found == self.bytes { Ok(()) } else { Err(Found { bytes, length: self.bytes.len() }) }
    }

    pub fn hex(&self) -> String {
        hex(&self.bytes)
    }
}

/// An unexpected hash, which is formatted only if it is shown.
pub(super) struct Found {
    bytes: [u8; BYTES_MAX],
    length: usize,
}

impl Found {
    pub fn hex(&self) -> String {
        hex(&self.bytes[..self.length])
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
