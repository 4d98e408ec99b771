//! Digest access authentication (RFC 7616; without `qop`, RFC 2069): the challenge of a server, and the response to it.

use crate::ask::lines;
use md5::Md5;
use plimsoll_plan::head::Head;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A challenge, and how often it was used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// Whether the server knows `qop=auth`; otherwise it speaks RFC 2069.
    has_qop: bool,
    /// Whether the server would accept the same credentials with a new nonce.
    pub is_stale: bool,
    uses: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    /// The challenge does not name it, and the response must not.
    #[default]
    Unnamed,
    Md5,
    Md5Sess,
    Sha256,
    Sha256Sess,
}

impl Algorithm {
    fn named(name: &str) -> Option<Algorithm> {
        const NAMES: [(&str, Algorithm); 4] = [
            ("MD5", Algorithm::Md5),
            ("MD5-sess", Algorithm::Md5Sess),
            ("SHA-256", Algorithm::Sha256),
            ("SHA-256-sess", Algorithm::Sha256Sess),
        ];
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, algorithm)| *algorithm)
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Algorithm::Unnamed => None,
            Algorithm::Md5 => Some("MD5"),
            Algorithm::Md5Sess => Some("MD5-sess"),
            Algorithm::Sha256 => Some("SHA-256"),
            Algorithm::Sha256Sess => Some("SHA-256-sess"),
        }
    }

    fn hash(self, parts: &[&[u8]]) -> String {
        let mut all = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                all.push(b':');
            }
            all.extend_from_slice(part);
        }
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Algorithm::Unnamed | Algorithm::Md5 | Algorithm::Md5Sess => hex(&Md5::digest(&all)),
            Algorithm::Sha256 | Algorithm::Sha256Sess => hex(&Sha256::digest(&all)),
        }
    }

    fn is_session(self) -> bool {
        matches!(self, Algorithm::Md5Sess | Algorithm::Sha256Sess)
    }
}

impl Challenge {
    /// Returns the strongest challenge of a response that this client can answer.
    ///
    /// # Errors
    /// Returns what the response offers instead.
    pub fn of(head: Head<'_>) -> Result<Challenge, String> {
        let mut best: Option<Challenge> = None;
        let mut offered = Vec::new();
        for field in head.fields("www-authenticate") {
            for (scheme, parameters) in schemes(&String::from_utf8_lossy(field)) {
                match read(&scheme, &parameters) {
                    Ok(challenge)
                        if best.as_ref().is_none_or(|best| best.algorithm < challenge.algorithm) =>
                    {
                        best = Some(challenge);
                    }
                    Ok(_) => {}
                    Err(what) => offered.push(what),
                }
            }
        }
        best.ok_or_else(|| match offered.is_empty() {
            true => "the response has no header `WWW-Authenticate`".to_owned(),
            false => {
                format!("the server offers {}, but no digest that plimsoll supports", offered.join(" and "))
            }
        })
    }

    /// Returns the value of `Authorization` for the next request. `cnonce` must be fresh.
    pub fn authorization(
        &mut self,
        (user, password): (&[u8], &[u8]),
        (method, uri): (&str, &str),
        cnonce: &str,
    ) -> String {
        self.uses = self.uses.saturating_add(1);
        let count = format!("{:08x}", self.uses);
        let algorithm = self.algorithm;
        let mut secret = algorithm.hash(&[user, self.realm.as_bytes(), password]);
        if algorithm.is_session() {
            secret = algorithm.hash(&[secret.as_bytes(), self.nonce.as_bytes(), cnonce.as_bytes()]);
        }
        let action = algorithm.hash(&[method.as_bytes(), uri.as_bytes()]);
        let (secret, nonce, action) = (secret.as_bytes(), self.nonce.as_bytes(), action.as_bytes());
        let response = match self.has_qop {
            true => algorithm.hash(&[secret, nonce, count.as_bytes(), cnonce.as_bytes(), b"auth", action]),
            false => algorithm.hash(&[secret, nonce, action]),
        };
        let user = String::from_utf8_lossy(user);
        let mut value = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{uri}\", response=\"{response}\"",
            escaped(&user),
            escaped(&self.realm),
            escaped(&self.nonce)
        );
        // Writing to a string cannot fail.
        if let Some(name) = algorithm.name() {
            let _ = write!(value, ", algorithm={name}");
        }
        if let Some(opaque) = &self.opaque {
            let _ = write!(value, ", opaque=\"{}\"", escaped(opaque));
        }
        if self.has_qop {
            let _ = write!(value, ", qop=auth, nc={count}, cnonce=\"{cnonce}\"");
        } else if algorithm.is_session() {
            let _ = write!(value, ", cnonce=\"{cnonce}\"");
        }
        value
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the challenge of a scheme, or what it is instead.
fn read(scheme: &str, parameters: &[(String, String)]) -> Result<Challenge, String> {
    if !scheme.eq_ignore_ascii_case("digest") {
        return Err(format!("`{scheme}`"));
    }
    let get =
        |name: &str| parameters.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, v)| v);
    let algorithm = match get("algorithm") {
        None => Algorithm::Unnamed,
        Some(name) => {
            Algorithm::named(name).ok_or_else(|| format!("`Digest` with the algorithm `{name}`"))?
        }
    };
    let has_qop = match get("qop") {
        None => false,
        Some(all) if all.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth")) => true,
        Some(other) => return Err(format!("`Digest` with the quality of protection `{other}`")),
    };
    let (Some(realm), Some(nonce)) = (get("realm"), get("nonce")) else {
        return Err("an incomplete `Digest`".to_owned());
    };
    Ok(Challenge {
        realm: realm.clone(),
        nonce: nonce.clone(),
        opaque: get("opaque").cloned(),
        algorithm,
        has_qop,
        is_stale: get("stale").is_some_and(|value| value.eq_ignore_ascii_case("true")),
        uses: 0,
    })
}

/// A scheme with its parameters.
type Scheme = (String, Vec<(String, String)>);

/// Splits a field into its schemes (RFC 9110 section 11.6.1): a scheme is a word that no `=` follows.
fn schemes(field: &str) -> Vec<Scheme> {
    let mut all: Vec<Scheme> = Vec::new();
    let mut rest = field;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if word.is_empty() {
            // A lone `=`, or the end.
            match behind.strip_prefix('=') {
                Some(behind) => rest = behind,
                None => return all,
            }
            continue;
        }
        let after = behind.trim_start();
        match after.strip_prefix('=').filter(|value| !value.starts_with('=')) {
            Some(value) if !all.is_empty() => {
                let (value, behind) = value_of(value.trim_start());
                if let Some((_, parameters)) = all.last_mut() {
                    parameters.push((word.to_owned(), value));
                }
                rest = behind;
            }
            _ => {
                all.push((word.to_owned(), Vec::new()));
                rest = behind;
            }
        }
    }
}

/// Splits off a value, in quotes or not.
fn value_of(text: &str) -> (String, &str) {
    let Some(inside) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut is_escaped = false;
    for (at, sign) in inside.char_indices() {
        match sign {
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => return (value, &inside[at + 1..]),
            _ => {
                is_escaped = false;
                value.push(sign);
            }
        }
    }
    (value, "")
}

/// Returns method and request target of a rendered request.
pub fn request_line(sent: &[u8]) -> Option<(&str, &str)> {
    let line = std::str::from_utf8(lines::first_line(sent)).ok()?;
    let mut words = line.splitn(3, ' ');
    Some((words.next()?, words.next()?))
}
