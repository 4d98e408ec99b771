//! Hashes and random bytes.

use super::Row;
use super::text::bytes;
use plimsoll_quickjs::{Call, Thrown, Value};
use sha2::Digest;

pub(super) const ROWS: &[Row] = &[("hash", 2, hash), ("hmac", 3, hmac), ("randomBytes", 1, random_bytes)];

/// Most random bytes in one call: scripts that ask for more have made a mistake.
const RANDOM_BYTES_MAX: f64 = 16_777_216.0;

/// Returns the hash of several parts as one; `None` for an unknown algorithm.
fn digest(algorithm: &str, parts: &[&[u8]]) -> Option<Vec<u8>> {
    fn of<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
        let mut state = D::new();
        parts.iter().for_each(|part| state.update(part));
        state.finalize().to_vec()
    }
    Some(match algorithm {
        "md4" => of::<md4::Md4>(parts),
        "md5" => of::<md5::Md5>(parts),
        "sha1" => of::<sha1::Sha1>(parts),
        "sha256" => of::<sha2::Sha256>(parts),
        "sha384" => of::<sha2::Sha384>(parts),
        "sha512" => of::<sha2::Sha512>(parts),
        "sha512_224" => of::<sha2::Sha512_224>(parts),
        "sha512_256" => of::<sha2::Sha512_256>(parts),
        "ripemd160" => of::<ripemd::Ripemd160>(parts),
        _ => return None,
    })
}

/// Returns the code of a message (RFC 2104); `None` for an unknown algorithm.
fn code(algorithm: &str, key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let block = if algorithm.starts_with("sha384") || algorithm.starts_with("sha512") { 128 } else { 64 };
    let mut padded = if key.len() > block { digest(algorithm, &[key])? } else { key.to_vec() };
    padded.resize(block, 0);
    let with = |mask: u8| padded.iter().map(|byte| byte ^ mask).collect::<Vec<u8>>();
    let inner = digest(algorithm, &[&with(0x36), message])?;
    digest(algorithm, &[&with(0x5c), &inner])
}

fn unknown(call: &Call<'_>, algorithm: &str) -> Thrown {
    call.realm().error("TypeError", &format!("unknown hash algorithm `{algorithm}`"))
}

fn hash(call: &Call<'_>) -> Result<Value, Thrown> {
    let algorithm = call.argument(0).to_text()?;
    let data = bytes(call, 1)?;
    let hash = digest(&algorithm, &[&data]).ok_or_else(|| unknown(call, &algorithm))?;
    Ok(call.realm().buffer(&hash))
}

fn hmac(call: &Call<'_>) -> Result<Value, Thrown> {
    let algorithm = call.argument(0).to_text()?;
    let (key, message) = (bytes(call, 1)?, bytes(call, 2)?);
    let code = code(&algorithm, &key, &message).ok_or_else(|| unknown(call, &algorithm))?;
    Ok(call.realm().buffer(&code))
}

fn random_bytes(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let count = call.argument(0).to_number()?;
    if !(0.0..=RANDOM_BYTES_MAX).contains(&count) {
        return Err(realm.error("RangeError", "invalid number of random bytes"));
    }
    let mut bytes = vec![0; count as usize];
    match aws_lc_rs::rand::fill(&mut bytes) {
        Ok(()) => Ok(realm.buffer(&bytes)),
        Err(_) => Err(realm.error("Error", "the system has no random bytes")),
    }
}
