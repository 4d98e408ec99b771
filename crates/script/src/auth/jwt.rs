//! JSON Web Tokens (RFC 7519) in the compact form of RFC 7515: made and checked with HS256, RS256, and ES256.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use plimsoll_plan::value::Digest;

/// A key that can sign.
pub enum Signer {
    Rsa(Box<RsaKeyPair>),
    Ecdsa(Box<EcdsaKeyPair>),
}

impl Signer {
    /// Reads a private RSA key, in a PEM text of PKCS #8 or PKCS #1.
    ///
    /// # Errors
    /// Returns an error if the text has no such key.
    pub fn rsa(pem: &str) -> Result<Signer, String> {
        let (label, der) = decoded(pem)?;
        let pair = match label.as_str() {
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(&der),
            _ => RsaKeyPair::from_pkcs8(&der),
        };
        pair.map(|pair| Signer::Rsa(Box::new(pair)))
            .map_err(|_| format!("`{label}` is not a private RSA key"))
    }

    /// Reads a private key on P-256, in a PEM text of PKCS #8 or SEC 1.
    ///
    /// # Errors
    /// Returns an error if the text has no such key.
    pub fn ecdsa(pem: &str) -> Result<Signer, String> {
        let (label, der) = decoded(pem)?;
        let pair = match label.as_str() {
            "EC PRIVATE KEY" => EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, &der),
            _ => EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der),
        };
        pair.map(|pair| Signer::Ecdsa(Box::new(pair)))
            .map_err(|_| format!("`{label}` is not a private key on P-256"))
    }

    /// Returns the signature of a message; `None` if the library cannot make one.
    pub fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Signer::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
            Signer::Ecdsa(pair) => {
                pair.sign(&random, message).ok().map(|signature| signature.as_ref().to_vec())
            }
        }
    }
}

/// A key that can check signatures.
pub enum Verifier {
    Hmac(Vec<u8>),
    Rsa(Vec<u8>),
    Ecdsa(Vec<u8>),
}

impl Verifier {
    /// Reads a public RSA key.
    ///
    /// # Errors
    /// Returns an error if the text has no public key.
    pub fn rsa(pem: &str) -> Result<Verifier, String> {
        public(pem).map(Verifier::Rsa)
    }

    /// Reads a public key on P-256.
    ///
    /// # Errors
    /// Returns an error if the text has no public key.
    pub fn ecdsa(pem: &str) -> Result<Verifier, String> {
        public(pem).map(Verifier::Ecdsa)
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Verifier::Hmac(_) => "HS256",
            Verifier::Rsa(_) => "RS256",
            Verifier::Ecdsa(_) => "ES256",
        }
    }

    fn accepts(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Verifier::Hmac(key) => {
                let (bytes, length) = crate::value::hmac(Digest::Sha256, key, message);
                bytes[..length] == *signature
            }
            Verifier::Rsa(key) => {
                UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key).verify(message, signature).is_ok()
            }
            Verifier::Ecdsa(key) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(message, signature).is_ok()
            }
        }
    }

    /// Checks a token: its form, its algorithm, its signature, and its times. Returns its claims as JSON.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn claims(&self, token: &[u8], unix_ns: u64) -> Result<Vec<u8>, String> {
        let token = token.trim_ascii();
        let token = token.strip_prefix(b"Bearer ").unwrap_or(token);
        let mut parts = token.split(|byte| *byte == b'.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("it does not have three parts".into());
        };
        let decode = |part: &[u8]| URL_SAFE_NO_PAD.decode(part).map_err(|_| "it is not Base64".to_owned());
        let about: serde_json::Value =
            serde_json::from_slice(&decode(header)?).map_err(|_| "its header is not JSON".to_owned())?;
        let algorithm = about.get("alg").and_then(serde_json::Value::as_str).unwrap_or_default();
        if algorithm != self.algorithm() {
            return Err(format!("it is signed with `{algorithm}`, not with `{}`", self.algorithm()));
        }
        let message = &token[..header.len() + 1 + claims.len()];
        if !self.accepts(message, &decode(signature)?) {
            return Err("its signature is wrong".into());
        }
        let claims = decode(claims)?;
        let about: serde_json::Value =
            serde_json::from_slice(&claims).map_err(|_| "its claims are not JSON".to_owned())?;
        let now_s = unix_ns as f64 / 1e9;
        let time = |name: &str| about.get(name).and_then(serde_json::Value::as_f64);
        if let Some(end) = time("exp").filter(|end| now_s >= *end) {
            return Err(format!("it expired {:.0} s ago", now_s - end));
        }
        if let Some(begin) = time("nbf").filter(|begin| now_s < *begin) {
            return Err(format!("it is valid only in {:.0} s", begin - now_s));
        }
        Ok(claims)
    }
}

/// Appends the part of a token that is signed: the header, a period, and the claims that are at the end of `out`,
/// from `begin`.
pub(crate) fn message(header: &str, begin: usize, out: &mut Vec<u8>) {
    let claims = URL_SAFE_NO_PAD.encode(&out[begin..]);
    out.truncate(begin);
    out.extend_from_slice(URL_SAFE_NO_PAD.encode(header).as_bytes());
    out.push(b'.');
    out.extend_from_slice(claims.as_bytes());
}

/// Appends a signature.
pub(crate) fn append(signature: &[u8], out: &mut Vec<u8>) {
    out.push(b'.');
    out.extend_from_slice(URL_SAFE_NO_PAD.encode(signature).as_bytes());
}

fn public(pem: &str) -> Result<Vec<u8>, String> {
    let (label, der) = decoded(pem)?;
    if label != "PUBLIC KEY" {
        return Err(format!(
            "`{label}` is not a public key; it must begin with `-----BEGIN PUBLIC KEY-----`"
        ));
    }
    Ok(der)
}

/// Returns the label and the bytes of the first block of a PEM text (RFC 7468).
fn decoded(pem: &str) -> Result<(String, Vec<u8>), String> {
    let wrong = || "the key is not a PEM text".to_owned();
    let (_, rest) = pem.split_once("-----BEGIN ").ok_or_else(wrong)?;
    let (label, rest) = rest.split_once("-----").ok_or_else(wrong)?;
    let (body, _) = rest.split_once("-----END ").ok_or_else(wrong)?;
    let body: String = body.chars().filter(|sign| !sign.is_whitespace()).collect();
    let der = STANDARD.decode(body).map_err(|_| wrong())?;
    Ok((label.to_owned(), der))
}
