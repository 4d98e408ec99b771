//! Signature version 4 of Amazon Web Services: signs a rendered request by its header `Authorization`.
//!
//! Signed are `Host`, `Content-Type`, and all headers that begin with `X-Amz-`. The path is normalized and encoded
//! again, as all services but S3 expect.

use crate::ask::{lines, set_header};
use crate::value::{Unfilled, hmac, write_time};
use plimsoll_plan::value::{Digest as Hash, TimeFormat};
use sha2::{Digest as _, Sha256};

/// Filled-in credentials and their scope.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    pub access_key: &'a [u8],
    pub secret_key: &'a [u8],
    pub session_token: Option<&'a [u8]>,
    pub region: &'a [u8],
    pub service: &'a [u8],
}

/// Signs the request that starts at `begin` in `out`.
///
/// # Errors
/// Returns an error if a credential contains a control byte, which no header may have.
pub fn sign(
    out: &mut Vec<u8>,
    begin: usize,
    credentials: &Credentials<'_>,
    unix_ns: u64,
) -> Result<(), Unfilled> {
    let mut time = Vec::new();
    write_time(unix_ns, &TimeFormat::Pattern("%Y%m%dT%H%M%SZ".into()), &mut time);
    // proof: the pattern begins with the eight digits of a date.
    let date = time[..8].to_vec();
    set_header(out, begin, "X-Amz-Date", &time)?;
    if let Some(token) = credentials.session_token {
        set_header(out, begin, "X-Amz-Security-Token", token)?;
    }
    let is_s3 = credentials.service == b"s3";
    let body = {
        let mut fields = lines::lines(&out[begin..]);
        fields.by_ref().for_each(drop);
        hex(&Sha256::digest(fields.body()))
    };
    if is_s3 {
        set_header(out, begin, "X-Amz-Content-Sha256", body.as_bytes())?;
    }
    let (request, signed) = canonical(&out[begin..], &body, is_s3);
    let scope = [&date[..], credentials.region, credentials.service, b"aws4_request"].join(&b'/');
    let text =
        [b"AWS4-HMAC-SHA256", &time[..], &scope[..], hex(&Sha256::digest(&request)).as_bytes()].join(&b'\n');
    let mut key = [b"AWS4", credentials.secret_key].concat();
    for part in [&date[..], credentials.region, credentials.service, b"aws4_request", &text[..]] {
        let (bytes, length) = hmac(Hash::Sha256, &key, part);
        key = bytes[..length].to_vec();
    }
    let value = [
        b"AWS4-HMAC-SHA256 Credential=",
        credentials.access_key,
        b"/",
        &scope[..],
        b", SignedHeaders=",
        signed.as_bytes(),
        b", Signature=",
        hex(&key).as_bytes(),
    ]
    .concat();
    set_header(out, begin, "Authorization", &value)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the canonical request, and the names of the signed headers.
fn canonical(sent: &[u8], body: &str, is_s3: bool) -> (Vec<u8>, String) {
    let mut words = lines::first_line(sent).splitn(3, |byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let (path, query) = match target.iter().position(|byte| *byte == b'?') {
        Some(at) => (&target[..at], &target[at + 1..]),
        None => (target, &target[..0]),
    };
    let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
    for line in lines::lines(sent) {
        let name = String::from_utf8_lossy(line.name).to_ascii_lowercase();
        if name != "host" && name != "content-type" && !name.starts_with("x-amz-") {
            continue;
        }
        // Runs of blanks count as one.
        let words = line.value.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let value = words.collect::<Vec<_>>().join(&b' ');
        match headers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => {
                known.push(b',');
                known.extend_from_slice(&value);
            }
            None => headers.push((name, value)),
        }
    }
    headers.sort();
    let signed = headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
    let mut all = Vec::new();
    for part in [method, b"\n", &canonical_path(path, is_s3)[..], b"\n", &canonical_query(query)[..], b"\n"] {
        all.extend_from_slice(part);
    }
    for (name, value) in &headers {
        for part in [name.as_bytes(), b":", &value[..], b"\n"] {
            all.extend_from_slice(part);
        }
    }
    for part in ["\n", &signed, "\n", body] {
        all.extend_from_slice(part.as_bytes());
    }
    (all, signed)
}

fn canonical_path(path: &[u8], is_s3: bool) -> Vec<u8> {
    if is_s3 {
        return path.to_vec();
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut all = Vec::new();
    for segment in &kept {
        all.push(b'/');
        encode(segment, &mut all);
    }
    if kept.is_empty() || path.ends_with(b"/") {
        all.push(b'/');
    }
    all
}

/// Sorts the pairs by their encoded names, then by their values.
fn canonical_query(query: &[u8]) -> Vec<u8> {
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for pair in query.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let canonical = |text: &[u8]| {
            let mut all = Vec::new();
            encode(&decode(text), &mut all);
            all
        };
        pairs.push((canonical(&pair[..at]), canonical(pair.get(at + 1..).unwrap_or_default())));
    }
    pairs.sort();
    let pairs: Vec<Vec<u8>> = pairs.into_iter().map(|(name, value)| [name, value].join(&b'=')).collect();
    pairs.join(&b'&')
}

/// Percent-encodes everything except unreserved characters (RFC 3986 section 2.3).
fn encode(text: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(text);
    crate::value::escape_from(out, begin, plimsoll_plan::value::Escape::Percent);
}

fn decode(text: &[u8]) -> Vec<u8> {
    let mut all = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digit = |at: usize| text.get(at).and_then(|sign| char::from(*sign).to_digit(16));
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                all.push((high << 4 | low) as u8);
                at += 3;
            }
            (byte, ..) => {
                all.push(byte);
                at += 1;
            }
        }
    }
    all
}
