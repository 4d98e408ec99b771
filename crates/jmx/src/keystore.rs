//! Key stores in PKCS #12 (RFC 7292): client certificates with their keys.
//!
//! Only stores that are encrypted by PBES2 with AES (RFC 8018) are read, as Java since version 16 and OpenSSL since
//! version 3 write them. The checksum of the store is not compared: a wrong password does not decrypt it.

mod der;

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::pbkdf2;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use der::{Der, EXPLICIT_0, IMPLICIT_0, NAME, OCTETS, SEQUENCE, SET};
use plimsoll_plan::Problem;
use plimsoll_plan::link::ClientFiles;
use std::num::NonZeroU32;

/// Object identifiers, without their tag and length.
const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
const ENCRYPTED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x06];
const KEY_BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, 0x01];
const ENCRYPTED_KEY_BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, 0x02];
const CERTIFICATE_BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, 0x03];
const LOCAL_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x15];
const PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];
const PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c];
/// Without the last number: 7, 9, 10, 11.
const HMAC: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02];
/// Without the last number: 2, 22, 42.
const AES_CBC: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];

/// Most iterations of a derived key: more would delay the start by minutes.
const ITERATIONS_MAX: u32 = 10_000_000;

/// Why a store cannot be read.
enum Unreadable {
    /// It is not a store in PKCS #12.
    Format,
    /// It is encrypted in an older way.
    Cipher,
    Password,
}

/// Returns the certificates that have a key, each with its chain, in their order.
///
/// # Errors
/// Returns an error if the store cannot be read, or has no key; `name` is that of its file.
pub fn read(bytes: &[u8], password: &str, name: &str) -> Result<Vec<ClientFiles>, Problem> {
    // Java's own format.
    if bytes.starts_with(&[0xfe, 0xed, 0xfe, 0xed]) || bytes.starts_with(&[0xce, 0xce, 0xce, 0xce]) {
        let hint = format!(
            "convert it: `keytool -importkeystore -srckeystore {name} -destkeystore keys.p12 -deststoretype PKCS12`"
        );
        return Err(Problem::new(format!("the key store `{name}` is a file of Java (JKS)"), hint));
    }
    let mut store = Store::default();
    let problem = match store.add_file(bytes, password) {
        Ok(()) => match store.clients() {
            clients if clients.is_empty() => Problem::new(
                format!("the key store `{name}` has no certificate with a key"),
                "export both into it",
            ),
            clients => return Ok(clients),
        },
        Err(Unreadable::Format) => Problem::new(
            format!("the key store `{name}` is not in PKCS #12"),
            "convert it with `openssl pkcs12 -export -in cert.pem -inkey key.pem -out keys.p12`",
        ),
        Err(Unreadable::Cipher) => Problem::new(
            format!("the key store `{name}` is encrypted in an older way than AES"),
            format!(
                "convert it: `openssl pkcs12 -legacy -in {name} -noenc -out keys.pem && \
                 openssl pkcs12 -export -in keys.pem -out keys.p12`"
            ),
        ),
        Err(Unreadable::Password) => Problem::new(
            format!("the password of the key store `{name}` is wrong"),
            "pass it with `-Djavax.net.ssl.keyStorePassword=PASSWORD`",
        ),
    };
    Err(problem)
}

/// The content of a store: keys and certificates, in DER, with what connects them.
#[derive(Default)]
struct Store {
    keys: Vec<(Vec<u8>, Vec<u8>)>,
    certificates: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Store {
    fn add_file(&mut self, bytes: &[u8], password: &str) -> Result<(), Unreadable> {
        let mut file = Der(bytes).inside(SEQUENCE).ok_or(Unreadable::Format)?;
        let parts = file.number().and_then(|_| {
            let mut content = file.inside(SEQUENCE)?;
            (content.take(NAME)? == DATA).then_some(())?;
            Der(content.inside(EXPLICIT_0)?.take(OCTETS)?).inside(SEQUENCE)
        });
        let mut parts = parts.ok_or(Unreadable::Format)?;
        while !parts.is_empty() {
            let mut part = parts.inside(SEQUENCE).ok_or(Unreadable::Format)?;
            let kind = part.take(NAME).ok_or(Unreadable::Format)?;
            let mut content = part.inside(EXPLICIT_0).ok_or(Unreadable::Format)?;
            if kind == DATA {
                self.add_bags(content.take(OCTETS).ok_or(Unreadable::Format)?, password)?;
            } else if kind == ENCRYPTED_DATA {
                let sealed = content.inside(SEQUENCE).and_then(|mut all| {
                    all.number()?;
                    let mut sealed = all.inside(SEQUENCE)?;
                    sealed.take(NAME)?;
                    Some((sealed.inside(SEQUENCE)?, sealed.take(IMPLICIT_0)?))
                });
                let (algorithm, sealed) = sealed.ok_or(Unreadable::Format)?;
                self.add_bags(&open(algorithm, sealed, password)?, password)?;
            }
        }
        Ok(())
    }

    fn add_bags(&mut self, bytes: &[u8], password: &str) -> Result<(), Unreadable> {
        let mut bags = Der(bytes).inside(SEQUENCE).ok_or(Unreadable::Format)?;
        while !bags.is_empty() {
            let mut bag = bags.inside(SEQUENCE).ok_or(Unreadable::Format)?;
            let kind = bag.take(NAME).ok_or(Unreadable::Format)?;
            let mut content = bag.inside(EXPLICIT_0).ok_or(Unreadable::Format)?;
            let local = local_key(bag).unwrap_or_default().to_vec();
            if kind == KEY_BAG {
                self.keys.push((local, content.0.to_vec()));
            } else if kind == ENCRYPTED_KEY_BAG {
                let sealed = content.inside(SEQUENCE);
                let sealed = sealed.and_then(|mut all| Some((all.inside(SEQUENCE)?, all.take(OCTETS)?)));
                let (algorithm, sealed) = sealed.ok_or(Unreadable::Format)?;
                self.keys.push((local, open(algorithm, sealed, password)?));
            } else if kind == CERTIFICATE_BAG {
                let certificate = content.inside(SEQUENCE).and_then(|mut all| {
                    all.take(NAME)?;
                    all.inside(EXPLICIT_0)?.take(OCTETS)
                });
                self.certificates.push((local, certificate.ok_or(Unreadable::Format)?.to_vec()));
            }
        }
        Ok(())
    }

    /// Returns the certificates with their keys. Certificates without a key are the chain of all.
    fn clients(&self) -> Vec<ClientFiles> {
        let has_key = |local: &[u8]| !local.is_empty() && self.keys.iter().any(|(own, _)| own == local);
        let chain = self.certificates.iter().filter(|(local, _)| !has_key(local)).map(|(_, der)| der);
        let clients = self.keys.iter().filter_map(|(local, key)| {
            let own = self.certificates.iter().find(|(other, _)| other == local)?;
            let all = std::iter::once(&own.1).chain(chain.clone().filter(|der| **der != own.1));
            let certificate = all.map(|der| pem("CERTIFICATE", der)).collect::<String>().into_bytes();
            Some(ClientFiles { certificate, key: pem("PRIVATE KEY", key).into_bytes() })
        });
        clients.collect()
    }
}

/// Returns the identifier that a key and its certificate share.
fn local_key(mut bag: Der<'_>) -> Option<&[u8]> {
    let mut attributes = bag.inside(SET)?;
    while !attributes.is_empty() {
        let mut attribute = attributes.inside(SEQUENCE)?;
        if attribute.take(NAME)? == LOCAL_KEY {
            return attribute.inside(SET)?.take(OCTETS);
        }
    }
    None
}

/// Decrypts a part of a store.
fn open(mut algorithm: Der<'_>, sealed: &[u8], password: &str) -> Result<Vec<u8>, Unreadable> {
    if algorithm.take(NAME).ok_or(Unreadable::Format)? != PBES2 {
        return Err(Unreadable::Cipher);
    }
    let mut parts = algorithm.inside(SEQUENCE).ok_or(Unreadable::Format)?;
    let parts = parts.inside(SEQUENCE).and_then(|derived| Some((derived, parts.inside(SEQUENCE)?)));
    let (mut derived, mut cipher) = parts.ok_or(Unreadable::Format)?;
    if derived.take(NAME).ok_or(Unreadable::Format)? != PBKDF2 {
        return Err(Unreadable::Cipher);
    }
    let settings = derived.inside(SEQUENCE).and_then(|mut all| {
        let salt = all.take(OCTETS)?;
        let iterations = NonZeroU32::new(all.number()?).filter(|count| count.get() <= ITERATIONS_MAX)?;
        Some((salt, iterations, all))
    });
    let (salt, iterations, mut rest) = settings.ok_or(Unreadable::Format)?;
    let mut function = rest.next();
    // The length of the key, which follows from the cipher.
    if function.is_some_and(|(tag, _)| tag == der::INTEGER) {
        function = rest.next();
    }
    let function = match function {
        Some((SEQUENCE, content)) => Der(content).take(NAME).and_then(|name| name.strip_prefix(HMAC)),
        Some(_) => return Err(Unreadable::Format),
        None => Some(&[7][..]),
    };
    let function = match function {
        Some([7]) => pbkdf2::PBKDF2_HMAC_SHA1,
        Some([9]) => pbkdf2::PBKDF2_HMAC_SHA256,
        Some([10]) => pbkdf2::PBKDF2_HMAC_SHA384,
        Some([11]) => pbkdf2::PBKDF2_HMAC_SHA512,
        _ => return Err(Unreadable::Cipher),
    };
    let kind = cipher.take(NAME).and_then(|name| name.strip_prefix(AES_CBC));
    let (aes, length) = match kind {
        Some([2]) => (&AES_128, 16),
        Some([22]) => (&AES_192, 24),
        Some([42]) => (&AES_256, 32),
        _ => return Err(Unreadable::Cipher),
    };
    let iv = cipher.take(OCTETS).and_then(|iv| <[u8; 16]>::try_from(iv).ok()).ok_or(Unreadable::Format)?;
    let mut key = [0; 32];
    pbkdf2::derive(function, iterations, salt, password.as_bytes(), &mut key[..length]);
    let key = UnboundCipherKey::new(aes, &key[..length]).and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
    let mut bytes = sealed.to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(iv));
    let length = key.and_then(|key| key.decrypt(&mut bytes, context).map(|plain| plain.len()));
    bytes.truncate(length.map_err(|_| Unreadable::Password)?);
    // One wrong password in 256 leaves a valid padding, but no value.
    let is_value = Der(&bytes).inside(SEQUENCE).is_some();
    if is_value { Ok(bytes) } else { Err(Unreadable::Password) }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}
