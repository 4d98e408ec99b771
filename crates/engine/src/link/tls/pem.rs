//! Converts PEM to DER, with messages that say which of the user's files is wrong and how: the parser alone knows
//! neither.

use plimsoll_plan::Problem;
use rustls_pki_types::pem::{Error, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Returns all certificates in `pem`, at least one. `what` names the file in messages.
pub fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let mut found = Vec::new();
    for (at, item) in CertificateDer::pem_slice_iter(pem).enumerate() {
        let part = |e| broken(&e).within(format_args!("cannot read part `{}` of {what}: ", at + 1));
        found.push(item.map_err(part)?);
    }
    if found.is_empty() {
        return Err(instead(pem, "CERTIFICATE").within(format_args!("{what} contains no certificate: ")));
    }
    Ok(found)
}

/// Returns the first private key in `pem`: PKCS#8, PKCS#1, or SEC1, not encrypted.
pub fn key(what: &str, pem: &[u8]) -> Result<PrivateKeyDer<'static>, Problem> {
    match PrivateKeyDer::from_pem_slice(pem) {
        Ok(key) => Ok(key),
        Err(Error::NoItemsFound) if holds(pem, "ENCRYPTED PRIVATE KEY") => Err(Problem::new(
            format!("the key in {what} is encrypted"),
            "decrypt it with `openssl pkey -in FILE -out PLAIN`",
        )),
        Err(Error::NoItemsFound) => {
            Err(instead(pem, "PRIVATE KEY").within(format_args!("{what} contains no private key: ")))
        }
        Err(e) => Err(broken(&e).within(format_args!("cannot read the key in {what}: "))),
    }
}

/// Returns whether there is a key of a kind that [`key`] accepts or reports by name.
pub fn has_key(pem: &[u8]) -> bool {
    holds(pem, "PRIVATE KEY")
}

fn holds(pem: &[u8], label: &str) -> bool {
    // The label may be the end of a longer one: `RSA PRIVATE KEY`.
    String::from_utf8_lossy(pem)
        .lines()
        .any(|l| l.starts_with("-----BEGIN ") && l.trim_end().trim_end_matches('-').ends_with(label))
}

/// Describes what a file contains in place of the expected section, and how to fix it.
fn instead(pem: &[u8], label: &str) -> Problem {
    // An ASN.1 SEQUENCE at the very start: the same data in DER instead of PEM.
    if pem.first() == Some(&0x30) {
        return Problem::new(
            "it is DER",
            "convert it to PEM with `openssl x509` or `openssl pkey` and `-inform DER`",
        );
    }
    let text = String::from_utf8_lossy(pem);
    let other = text.lines().find_map(|l| l.strip_prefix("-----BEGIN ")).map(|l| l.trim_end_matches('-'));
    match other {
        Some(other) => {
            Problem::new(format!("it begins with `{other}`"), format!("pass a PEM file with `BEGIN {label}`"))
        }
        None if pem.is_empty() => {
            Problem::new("it is empty", format!("pass a PEM file with `BEGIN {label}`"))
        }
        None => Problem::new("it is not PEM", format!("pass a PEM file with `BEGIN {label}`")),
    }
}

fn broken(error: &Error) -> Problem {
    let why = match error {
        Error::MissingSectionEnd { end_marker } => {
            format!("the line `{}` is missing", String::from_utf8_lossy(end_marker).trim_end())
        }
        Error::IllegalSectionStart { line } => {
            format!("the line `{}` is malformed", String::from_utf8_lossy(line).trim_end())
        }
        Error::Base64Decode(why) => format!("invalid base64 ({why})"),
        other => format!("{other:?}"),
    };
    Problem::new(why, "copy the file again, complete and unchanged")
}
