//! Bytes as text, and the name of a content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Returns bytes as text (Base64).
pub fn text_of(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns the bytes of a text; `None` if it is not Base64.
pub fn bytes_of(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Returns the SHA-256 of a content in hexadecimal.
pub fn sha256(content: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(content).iter() {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
