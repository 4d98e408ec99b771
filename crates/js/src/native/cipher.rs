//! AES, and keys derived from passwords, for `crypto.subtle`.

use super::Row;
use super::text::bytes;
use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext,
    PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::pbkdf2;
use plimsoll_quickjs::{Call, Thrown, Value};
use std::num::NonZeroU32;

pub(super) const ROWS: &[Row] = &[("aes", 6, aes), ("pbkdf2", 5, derive)];

/// Most iterations of a derived key: more would block the other virtual users of a worker for seconds.
const ITERATIONS_MAX: u32 = 10_000_000;
/// Longest derived key, bytes.
const DERIVED_BYTES_MAX: usize = 1 << 16;

/// Encrypts or decrypts: mode, whether to encrypt, key, initialization vector, data, and additional data of `gcm`.
fn aes(call: &Call<'_>) -> Result<Value, Thrown> {
    let mode = call.argument(0).to_text()?;
    let encrypts = call.argument(1).truth();
    let (key, iv, data, additional) = (bytes(call, 2)?, bytes(call, 3)?, bytes(call, 4)?, bytes(call, 5)?);
    let result = match mode.as_str() {
        "cbc" => cbc(encrypts, &key, &iv, data),
        "ctr" => ctr(encrypts, &key, &iv, data),
        _ => gcm(encrypts, &key, &iv, data, &additional),
    };
    match result {
        Ok(bytes) => Ok(call.realm().buffer(&bytes)),
        Err(Unspecified) => {
            let what = if encrypts { "encrypted" } else { "decrypted" };
            Err(call
                .realm()
                .error("Error", &format!("OperationError: the data cannot be {what} with this key")))
        }
    }
}

fn cipher_key(key: &[u8]) -> Result<UnboundCipherKey, Unspecified> {
    let algorithm = match key.len() {
        16 => &AES_128,
        24 => &AES_192,
        32 => &AES_256,
        _ => return Err(Unspecified),
    };
    UnboundCipherKey::new(algorithm, key)
}

fn vector(iv: &[u8]) -> Result<FixedLength<16>, Unspecified> {
    let iv: [u8; 16] = iv.try_into().map_err(|_| Unspecified)?;
    Ok(FixedLength::from(iv))
}

fn cbc(encrypts: bool, key: &[u8], iv: &[u8], mut data: Vec<u8>) -> Result<Vec<u8>, Unspecified> {
    let (key, iv) = (cipher_key(key)?, vector(iv)?);
    if encrypts {
        let key = PaddedBlockEncryptingKey::cbc_pkcs7(key)?;
        key.less_safe_encrypt(&mut data, EncryptionContext::Iv128(iv))?;
        return Ok(data);
    }
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(key)?;
    Ok(key.decrypt(&mut data, DecryptionContext::Iv128(iv))?.to_vec())
}

fn ctr(encrypts: bool, key: &[u8], iv: &[u8], mut data: Vec<u8>) -> Result<Vec<u8>, Unspecified> {
    let (key, iv) = (cipher_key(key)?, vector(iv)?);
    if encrypts {
        EncryptingKey::ctr(key)?.less_safe_encrypt(&mut data, EncryptionContext::Iv128(iv))?;
    } else {
        DecryptingKey::ctr(key)?.decrypt(&mut data, DecryptionContext::Iv128(iv))?;
    }
    Ok(data)
}

fn gcm(
    encrypts: bool,
    key: &[u8],
    iv: &[u8],
    mut data: Vec<u8>,
    more: &[u8],
) -> Result<Vec<u8>, Unspecified> {
    let algorithm = match key.len() {
        16 => &aead::AES_128_GCM,
        24 => &aead::AES_192_GCM,
        32 => &aead::AES_256_GCM,
        _ => return Err(Unspecified),
    };
    let key = LessSafeKey::new(UnboundKey::new(algorithm, key)?);
    let nonce = Nonce::try_assume_unique_for_key(iv)?;
    if encrypts {
        key.seal_in_place_append_tag(nonce, Aad::from(more), &mut data)?;
        return Ok(data);
    }
    Ok(key.open_in_place(nonce, Aad::from(more), &mut data)?.to_vec())
}

/// Derives bytes: hash, password, salt, iterations, and the number of bytes.
fn derive(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let hash = call.argument(0).to_text()?;
    let algorithm = match hash.as_str() {
        "sha1" => pbkdf2::PBKDF2_HMAC_SHA1,
        "sha256" => pbkdf2::PBKDF2_HMAC_SHA256,
        "sha384" => pbkdf2::PBKDF2_HMAC_SHA384,
        "sha512" => pbkdf2::PBKDF2_HMAC_SHA512,
        _ => return Err(realm.error("Error", &format!("NotSupportedError: PBKDF2 with `{hash}`"))),
    };
    let (password, salt) = (bytes(call, 1)?, bytes(call, 2)?);
    let iterations = call.argument(3).to_number()?.clamp(0.0, f64::from(u32::MAX)) as u32;
    let length = call.argument(4).to_number()?.max(0.0) as usize;
    let Some(iterations) = NonZeroU32::new(iterations).filter(|count| count.get() <= ITERATIONS_MAX) else {
        let message = format!("OperationError: the number of iterations must be from 1 to {ITERATIONS_MAX}");
        return Err(realm.error("Error", &message));
    };
    if length == 0 || length > DERIVED_BYTES_MAX {
        return Err(realm.error("Error", "OperationError: invalid length of a derived key"));
    }
    let mut out = vec![0; length];
    pbkdf2::derive(algorithm, iterations, &salt, &password, &mut out);
    Ok(realm.buffer(&out))
}
