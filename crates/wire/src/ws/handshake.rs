//! The opening handshake (RFC 6455 section 4): the key of a request, and the check of the response.

use super::Terms;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use std::fmt;

/// Length of `Sec-WebSocket-Key` and of `Sec-WebSocket-Accept`, bytes.
pub const KEY_BYTES: usize = 24;
pub const ACCEPT_BYTES: usize = 28;

/// Appended to the key before it is hashed (section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Returns the value of `Sec-WebSocket-Key` for 16 random bytes.
pub fn key_of(random: [u8; 16]) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    // 16 bytes take exactly 24 characters, so there is room for them.
    let _ = STANDARD.encode_slice(random, &mut key);
    key
}

/// Returns the value of `Sec-WebSocket-Accept` for a key.
pub fn accept_of(key: &[u8]) -> [u8; ACCEPT_BYTES] {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let mut accept = [0; ACCEPT_BYTES];
    // 20 bytes take exactly 28 characters, so there is room for them.
    let _ = STANDARD.encode_slice(digest, &mut accept);
    accept
}

/// What the client offered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer<'a> {
    /// The terms of permessage-deflate, if it was offered.
    pub deflate: Option<Terms>,
    /// The subprotocols, in order.
    pub subprotocols: &'a [String],
}

/// The fields of the response that the check reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response<'a> {
    pub upgrade: Option<&'a [u8]>,
    pub connection: Option<&'a [u8]>,
    pub accept: Option<&'a [u8]>,
    pub extensions: Option<&'a [u8]>,
    pub subprotocol: Option<&'a [u8]>,
}

/// Why a response with status 101 does not open a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    Upgrade,
    Connection,
    Accept,
    Extension,
    Subprotocol,
}

impl Rejected {
    pub const ALL: [Rejected; 5] = [
        Rejected::Upgrade,
        Rejected::Connection,
        Rejected::Accept,
        Rejected::Extension,
        Rejected::Subprotocol,
    ];

    /// Returns a lower-case fragment that says what was received.
    pub const fn sentence(self) -> &'static str {
        match self {
            Rejected::Upgrade => "the header `Upgrade` of the response is not `websocket`",
            Rejected::Connection => "the header `Connection` of the response does not contain `Upgrade`",
            Rejected::Accept => "the header `Sec-WebSocket-Accept` does not match the key of the request",
            Rejected::Extension => "the server chose an extension that the client did not offer",
            Rejected::Subprotocol => "the server chose a subprotocol that the client did not offer",
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for Rejected {}

/// Checks a response with status 101 (section 4.1).
///
/// # Errors
/// Returns the first violation.
pub fn check(response: &Response<'_>, key: &[u8], offer: &Offer<'_>) -> Result<(), Rejected> {
    check_upgrade(response, key)?;
    check_choice(response, offer)
}

/// Checks that a response with status 101 switches to a WebSocket, without what it chooses.
///
/// # Errors
/// Returns the first violation.
pub fn check_upgrade(response: &Response<'_>, key: &[u8]) -> Result<(), Rejected> {
    let is_upgraded =
        response.upgrade.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(b"websocket"));
    if !is_upgraded {
        return Err(Rejected::Upgrade);
    }
    let mut options = items(response.connection.unwrap_or_default(), b',');
    if !options.any(|option| option.eq_ignore_ascii_case(b"upgrade")) {
        return Err(Rejected::Connection);
    }
    if response.accept.map(<[u8]>::trim_ascii) != Some(&accept_of(key)) {
        return Err(Rejected::Accept);
    }
    Ok(())
}

/// Checks what the server has chosen of an offer. Over HTTP/2, whose handshake has no key and no upgrade, that is all
/// (RFC 8441 section 5).
///
/// # Errors
/// Returns the first violation.
pub fn check_choice(response: &Response<'_>, offer: &Offer<'_>) -> Result<(), Rejected> {
    check_chosen(response, offer, false)
}

/// Checks what the server has chosen of an offer with `client_max_window_bits`, which lets it choose the client's
/// window.
///
/// # Errors
/// Returns the first violation.
pub fn check_choice_of_window(response: &Response<'_>, offer: &Offer<'_>) -> Result<(), Rejected> {
    check_chosen(response, offer, true)
}

fn check_chosen(response: &Response<'_>, offer: &Offer<'_>, offers_window: bool) -> Result<(), Rejected> {
    if let Some(extensions) = response.extensions {
        let agreed = items(extensions, b',').collect::<Vec<_>>();
        let is_offered = match agreed.as_slice() {
            [] => true,
            [one] => offer.deflate.is_some_and(|offered| is_acceptable(one, offered, offers_window)),
            _ => false,
        };
        if !is_offered {
            return Err(Rejected::Extension);
        }
    }
    match response.subprotocol.map(<[u8]>::trim_ascii) {
        Some(chosen) if !offer.subprotocols.iter().any(|offered| offered.as_bytes() == chosen) => {
            Err(Rejected::Subprotocol)
        }
        _ => Ok(()),
    }
}

/// Returns the terms of permessage-deflate in the value of `Sec-WebSocket-Extensions`, if it was agreed on.
pub fn terms_of(extensions: &[u8]) -> Option<Terms> {
    let deflate = deflate_of(extensions)?;
    let has = |name: &[u8]| items(deflate, b';').skip(1).any(|parameter| parameter == name);
    Some(Terms {
        client_no_context: has(b"client_no_context_takeover"),
        server_no_context: has(b"server_no_context_takeover"),
    })
}

/// Returns the bits of the client's window that the server has chosen in `Sec-WebSocket-Extensions`, if it has.
pub fn client_window(extensions: &[u8]) -> Option<u8> {
    let parameters = items(deflate_of(extensions)?, b';').skip(1);
    let values = parameters.filter_map(|parameter| {
        let at = parameter.iter().position(|byte| *byte == b'=')?;
        (parameter[..at].trim_ascii() == b"client_max_window_bits").then(|| parameter[at + 1..].trim_ascii())
    });
    values.filter_map(window_bits).next()
}

/// Returns permessage-deflate of a list of extensions, with its parameters.
fn deflate_of(extensions: &[u8]) -> Option<&[u8]> {
    items(extensions, b',').find(|one| items(one, b';').next() == Some(b"permessage-deflate"))
}

/// Returns whether the client can keep to an extension as the server chose it (RFC 7692 section 7.1).
fn is_acceptable(chosen: &[u8], offered: Terms, offers_window: bool) -> bool {
    let mut parts = items(chosen, b';');
    if parts.next() != Some(b"permessage-deflate") {
        return false;
    }
    let mut server_no_context = false;
    let mut seen: Vec<&[u8]> = Vec::new();
    for part in parts {
        let (name, value) = match part.iter().position(|byte| *byte == b'=') {
            Some(at) => (part[..at].trim_ascii(), Some(part[at + 1..].trim_ascii())),
            None => (part, None),
        };
        if seen.contains(&name) {
            return false;
        }
        seen.push(name);
        let is_known = match (name, value) {
            (b"client_no_context_takeover", None) => true,
            (b"server_no_context_takeover", None) => {
                server_no_context = true;
                true
            }
            // A smaller window of the server needs nothing of the client.
            (b"server_max_window_bits", Some(bits)) => window_bits(bits).is_some(),
            (b"client_max_window_bits", Some(bits)) => offers_window && window_bits(bits).is_some(),
            _ => false,
        };
        if !is_known {
            return false;
        }
    }
    server_no_context || !offered.server_no_context
}

fn window_bits(text: &[u8]) -> Option<u8> {
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    let bits = std::str::from_utf8(text).ok()?.parse().ok()?;
    (8..=15).contains(&bits).then_some(bits)
}

/// Returns the items of a list, without spaces and without empty ones.
fn items(list: &[u8], by: u8) -> impl Iterator<Item = &[u8]> {
    list.split(move |byte| *byte == by).map(<[u8]>::trim_ascii).filter(|item| !item.is_empty())
}
