//! PEM into DER, with a sentence that says which of the user's files is wrong and how: the parser alone knows neither.

use rustls_pki_types::pem::{Error, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// All certificates in `pem`, at least one. `what` names the file for the sentence.
pub fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut found = Vec::new();
    for (at, item) in CertificateDer::pem_slice_iter(pem).enumerate() {
        found.push(item.map_err(|e| format!("cannot read part `{}` of {what}: {}", at + 1, broken(&e)))?);
    }
    if found.is_empty() {
        return Err(format!("{what} holds no certificate: {}", instead(pem, "CERTIFICATE")));
    }
    Ok(found)
}

/// The first private key in `pem`: PKCS#8, PKCS#1 or SEC1, not encrypted.
pub fn key(what: &str, pem: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    match PrivateKeyDer::from_pem_slice(pem) {
        Ok(key) => Ok(key),
        Err(Error::NoItemsFound) if holds(pem, "ENCRYPTED PRIVATE KEY") => Err(format!(
            "the key in {what} is encrypted\nhint: decrypt it with `openssl pkey -in FILE -out PLAIN`"
        )),
        Err(Error::NoItemsFound) => {
            Err(format!("{what} holds no private key: {}", instead(pem, "PRIVATE KEY")))
        }
        Err(e) => Err(format!("cannot read the key in {what}: {}", broken(&e))),
    }
}

/// Is there a key of a kind that [`key`] takes or names?
pub fn has_key(pem: &[u8]) -> bool {
    holds(pem, "PRIVATE KEY")
}

fn holds(pem: &[u8], label: &str) -> bool {
    // The label may be the end of a longer one: `RSA PRIVATE KEY`.
    String::from_utf8_lossy(pem)
        .lines()
        .any(|l| l.starts_with("-----BEGIN ") && l.trim_end().trim_end_matches('-').ends_with(label))
}

/// What a file holds in place of what was looked for, and what to do about it.
fn instead(pem: &[u8], label: &str) -> String {
    // An ASN.1 SEQUENCE at the very start: the same thing without its PEM clothes.
    if pem.first() == Some(&0x30) {
        return "it is DER\nhint: make PEM of it with `openssl x509` or `openssl pkey` and `-inform DER`"
            .into();
    }
    let text = String::from_utf8_lossy(pem);
    let other = text.lines().find_map(|l| l.strip_prefix("-----BEGIN ")).map(|l| l.trim_end_matches('-'));
    match other {
        Some(other) => format!("it begins with `{other}`\nhint: give a PEM file with `BEGIN {label}`"),
        None if pem.is_empty() => format!("it is empty\nhint: give a PEM file with `BEGIN {label}`"),
        None => format!("it is not PEM\nhint: give a PEM file with `BEGIN {label}`"),
    }
}

fn broken(error: &Error) -> String {
    let why = match error {
        Error::MissingSectionEnd { end_marker } => {
            format!("the line `{}` is missing", String::from_utf8_lossy(end_marker).trim_end())
        }
        Error::IllegalSectionStart { line } => {
            format!("the line `{}` is malformed", String::from_utf8_lossy(line).trim_end())
        }
        Error::Base64Decode(why) => format!("its base64 is broken ({why})"),
        other => format!("{other:?}"),
    };
    format!("{why}\nhint: copy the file again, whole and unchanged")
}
