//! Hashes and encodings of texts. The text is already at the end of the buffer, and its hash replaces it, so hashing
//! allocates nothing.

use super::{Scope, Unfilled, escape_from, fill};
use crate::auth::jwt::{self, Signer};
use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use plimsoll_plan::auth::JwtKey;
use plimsoll_plan::value::{Derived, Digest, Escape, Form, Secret, Transform};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use std::cell::RefCell;

/// Longest of the hashes, in bytes.
const BYTES_MAX: usize = 64;

/// The bytes of a hash, and their number.
type Hashed = ([u8; BYTES_MAX], usize);

/// Appends the result of a function of a text.
pub(super) fn put(derived: &Derived, scope: &mut Scope<'_>, out: &mut Vec<u8>) -> Result<(), Unfilled> {
    let begin = out.len();
    fill(&derived.text, scope, out)?;
    match &derived.how {
        Transform::Base64 => encode(&STANDARD, begin, out),
        Transform::Base64Url => encode(&URL_SAFE_NO_PAD, begin, out),
        Transform::Base64Decode => decode(begin, out)?,
        Transform::Hex => hex(begin, out),
        Transform::Url => escape_from(out, begin, Escape::Percent),
        Transform::Digest { algorithm, form } => {
            let hashed = digest(*algorithm, &out[begin..]);
            replace(hashed, *form, begin, out);
        }
        Transform::Jwt { key, header } => {
            jwt::message(header, begin, out);
            sign(key, begin, scope, out)?;
        }
        Transform::Hmac { algorithm, key, form } => {
            let key_at = out.len();
            fill(key, scope, out)?;
            let (text, key) = out[begin..].split_at(key_at - begin);
            let hashed = hmac(*algorithm, key, text);
            replace(hashed, *form, begin, out);
        }
    }
    Ok(())
}

thread_local! {
    /// The keys that this thread has read, each with the text that it is from. Signing costs far more than the search.
    static SIGNERS: RefCell<Vec<(Secret, Signer)>> = const { RefCell::new(Vec::new()) };
}

/// Appends the signature of the message from `begin`.
fn sign(key: &JwtKey, begin: usize, scope: &mut Scope<'_>, out: &mut Vec<u8>) -> Result<(), Unfilled> {
    let pem = match key {
        JwtKey::Hs256(key) => {
            let key_at = out.len();
            fill(key, scope, out)?;
            let (text, key) = out[begin..].split_at(key_at - begin);
            let (bytes, length) = hmac(Digest::Sha256, key, text);
            out.truncate(key_at);
            jwt::append(&bytes[..length], out);
            return Ok(());
        }
        JwtKey::Rs256(pem) | JwtKey::Es256(pem) => pem,
    };
    let signature = SIGNERS.with_borrow_mut(|signers| {
        let known = signers.iter().position(|(known, _)| known == pem);
        let at = match known {
            Some(at) => at,
            None => {
                signers.push((pem.clone(), signer(key)?.ok()?));
                signers.len() - 1
            }
        };
        signers.get(at).and_then(|(_, signer)| signer.sign(&out[begin..]))
    });
    jwt::append(&signature.ok_or(Unfilled::Unsigned)?, out);
    Ok(())
}

/// Reads the key of an algorithm with a pair of keys.
fn signer(key: &JwtKey) -> Option<Result<Signer, String>> {
    match key {
        JwtKey::Hs256(_) => None,
        JwtKey::Rs256(pem) => Some(Signer::rsa(pem.reveal())),
        JwtKey::Es256(pem) => Some(Signer::ecdsa(pem.reveal())),
    }
}

/// Tries a key before the load.
///
/// # Errors
/// Returns an error if its text has no such key.
pub(crate) fn check_signer(key: &JwtKey) -> Result<(), String> {
    signer(key).transpose().map(drop)
}

fn digest(algorithm: Digest, text: &[u8]) -> Hashed {
    match algorithm {
        Digest::Md5 => kept(&Md5::digest(text)),
        Digest::Sha1 => kept(&Sha1::digest(text)),
        Digest::Sha256 => kept(&Sha256::digest(text)),
        Digest::Sha512 => kept(&Sha512::digest(text)),
    }
}

fn kept(bytes: &[u8]) -> Hashed {
    let mut all = [0; BYTES_MAX];
    // proof: no hash is longer than SHA-512.
    all[..bytes.len()].copy_from_slice(bytes);
    (all, bytes.len())
}

/// Returns the HMAC of a text (RFC 2104).
pub(crate) fn hmac(algorithm: Digest, key: &[u8], text: &[u8]) -> Hashed {
    macro_rules! of {
        ($hash:ty) => {
            match Hmac::<$hash>::new_from_slice(key) {
                Ok(mac) => kept(&mac.chain_update(text).finalize().into_bytes()),
                // proof: a key may have any length.
                Err(_) => ([0; BYTES_MAX], 0),
            }
        };
    }
    match algorithm {
        Digest::Md5 => of!(Md5),
        Digest::Sha1 => of!(Sha1),
        Digest::Sha256 => of!(Sha256),
        Digest::Sha512 => of!(Sha512),
    }
}

/// Replaces the bytes from `begin` by those of a hash.
fn replace((bytes, length): Hashed, form: Form, begin: usize, out: &mut Vec<u8>) {
    out.truncate(begin);
    out.extend_from_slice(&bytes[..length]);
    match form {
        Form::Raw => {}
        Form::Hex => hex(begin, out),
        Form::Base64 => encode(&STANDARD, begin, out),
        Form::Base64Url => encode(&URL_SAFE_NO_PAD, begin, out),
    }
}

/// Encodes the bytes from `begin` in place: the code is written after them, and then moved over them.
fn encode(engine: &GeneralPurpose, begin: usize, out: &mut Vec<u8>) {
    let end = out.len();
    // 4 characters for each 3 bytes, and at most one more group.
    out.resize(end + (end - begin).div_ceil(3) * 4, 0);
    let (text, room) = out.split_at_mut(end);
    // proof: the room is as long as the code with padding.
    let length = engine.encode_slice(&text[begin..], room).unwrap_or(0);
    out.copy_within(end..end + length, begin);
    out.truncate(begin + length);
}

/// Decodes the bytes from `begin`, in either alphabet, with and without padding.
fn decode(begin: usize, out: &mut Vec<u8>) -> Result<(), Unfilled> {
    let mut end = out.len();
    while end > begin && (out[end - 1] == b'=' || out[end - 1].is_ascii_whitespace()) {
        end -= 1;
    }
    for sign in &mut out[begin..end] {
        match *sign {
            b'-' => *sign = b'+',
            b'_' => *sign = b'/',
            _ => {}
        }
    }
    out.truncate(end);
    // The decoder wants room for whole groups.
    out.resize(end + (end - begin) + 4, 0);
    let (text, room) = out.split_at_mut(end);
    match STANDARD_NO_PAD.decode_slice(&text[begin..], room) {
        Ok(length) => {
            out.copy_within(end..end + length, begin);
            out.truncate(begin + length);
            Ok(())
        }
        Err(_) => {
            out.truncate(begin);
            Err(Unfilled::NotBase64)
        }
    }
}

/// Replaces the bytes from `begin` by their hexadecimal digits, from the end, so that no unread byte is overwritten.
fn hex(begin: usize, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let length = out.len() - begin;
    out.resize(begin + 2 * length, 0);
    for at in (0..length).rev() {
        let byte = out[begin + at];
        out[begin + 2 * at] = DIGITS[usize::from(byte >> 4)];
        out[begin + 2 * at + 1] = DIGITS[usize::from(byte & 15)];
    }
}
