//! From a request as its author wrote it to a [`Form`]: the order of the lines, and what he left out, as
//! `plimsoll_wire::h1::render` decides it for requests without holes.

use super::form::{Piece, Place};
use super::lines::pairs;
use super::{Form, Origin, Site, bare};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::{Part, Text};
use plimsoll_wire::h1::{check_header, check_method, check_target};

/// See [`Form::compile`].
pub(super) fn form(ask: &Ask, site: &Site) -> Result<Form, String> {
    // Holes are looked at each time they are filled; the rest is looked at once, here.
    check_method(&ask.method)?;
    check_path(&ask.path)?;
    for (name, value) in &ask.headers {
        check_header(name, "")?;
        for bytes in literals(value) {
            check_header(name, &String::from_utf8_lossy(bytes))?;
        }
    }
    let own = |name: &str| ask.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut draft = Draft::default();
    draft.bytes(&format!("{} ", ask.method));
    draft.text(&ask.path, Place::Path);
    draft.bytes(if site.http10 { " HTTP/1.0\r\n" } else { " HTTP/1.1\r\n" });
    // Host stands first (RFC 9112 section 3.2), the author's own too.
    match own("host") {
        Some((name, value)) => draft.header(name, value),
        None => draft.line("Host", &site.host),
    }
    let has_cookie = draft.headers(ask);
    if own("user-agent").is_none() {
        draft.line("User-Agent", site.user_agent);
    }
    if own("accept").is_none() {
        // A server that can answer otherwise, too, is told that events are wanted (WHATWG HTML section 9.2.2).
        draft.line("Accept", if ask.stream.is_some() { "text/event-stream" } else { "*/*" });
    }
    // A body without holes becomes literal bytes, and its length with it.
    let (fixed, filled) = match ask.body.as_ref().map(|body| (body, body.fixed())) {
        None => (None, None),
        Some((_, Some(bytes))) => (Some(bytes), None),
        Some((body, None)) => (None, Some(body.clone())),
    };
    // Not beside the author's own `Transfer-Encoding`: his body is in chunks already. Without a body it is said where
    // a server expects one (RFC 9110 section 8.6).
    if own("content-length").is_none() && own("transfer-encoding").is_none() {
        let expects = matches!(ask.method.as_str(), "POST" | "PUT" | "PATCH");
        if filled.is_some() {
            draft.bytes("Content-Length: ");
            draft.piece(Piece::Length);
            draft.bytes("\r\n");
        } else if let Some(bytes) = fixed.as_ref().map(Vec::len).or(expects.then_some(0)) {
            draft.line("Content-Length", &bytes.to_string());
        }
    }
    let own_close = own_close(ask)?;
    if own_close.is_none() {
        if site.close {
            draft.line("Connection", "close");
        } else if site.http10 {
            draft.line("Connection", "keep-alive");
        }
    }
    // Last, so that a redirect finds the same order of lines with and without cookies.
    if !has_cookie {
        draft.piece(Piece::Cookies { lead: 0 });
    }
    draft.bytes("\r\n");
    draft.literal.extend_from_slice(fixed.as_deref().unwrap_or_default());
    if filled.is_some() {
        draft.piece(Piece::Body);
    }
    draft.flush();
    let is_fixed = draft.pieces.iter().all(|piece| matches!(piece, Piece::Bytes(_) | Piece::Cookies { .. }));
    Ok(Form {
        literal: draft.literal,
        pieces: draft.pieces,
        body: filled,
        is_fixed,
        is_path_open: matches!(ask.path.parts.first(), Some(Part::Hole(..))),
        path_at: ask.method.len() + 1,
        head_only: ask.method == "HEAD",
        close: own_close.unwrap_or(site.close),
        host: site.host.clone(),
        origin: origin(own("host").map(|(_, value)| value), site),
        own_cookies: own_cookies(ask),
    })
}

/// Pieces so far; `cut` is where the next stretch of literal bytes begins.
#[derive(Default)]
struct Draft {
    literal: Vec<u8>,
    pieces: Vec<Piece>,
    cut: usize,
}

impl Draft {
    fn bytes(&mut self, text: &str) {
        self.literal.extend_from_slice(text.as_bytes());
    }

    /// Ends a stretch of literal bytes: between two pieces there is one copy, whatever it was made from.
    fn flush(&mut self) {
        if self.cut < self.literal.len() {
            self.pieces.push(Piece::Bytes(self.cut..self.literal.len()));
            self.cut = self.literal.len();
        }
    }

    fn piece(&mut self, piece: Piece) {
        self.flush();
        self.pieces.push(piece);
    }

    fn text(&mut self, text: &Text, place: Place) {
        for part in &text.parts {
            match part {
                Part::Literal(bytes) => self.literal.extend_from_slice(bytes),
                Part::Secret(secret) => self.bytes(secret.reveal()),
                hole @ Part::Hole(..) => self.piece(Piece::Hole(Text { parts: vec![hole.clone()] }, place)),
            }
        }
    }

    fn line(&mut self, name: &str, value: &str) {
        self.bytes(&format!("{name}: {value}\r\n"));
    }

    fn header(&mut self, name: &str, value: &Text) {
        self.bytes(&format!("{name}: "));
        self.text(value, Place::Header);
        self.bytes("\r\n");
    }

    /// The author's headers but for the first `Host`. His `Cookie` headers become one line, as there must not be more
    /// (RFC 6265 section 5.4), to which the user's cookies are added; true when there is one.
    fn headers(&mut self, ask: &Ask) -> bool {
        let is = |name: &str, wanted: &str| name.eq_ignore_ascii_case(wanted);
        let host = ask.headers.iter().position(|(name, _)| is(name, "host"));
        let mut has_cookie = false;
        for (at, (name, value)) in ask.headers.iter().enumerate() {
            if Some(at) == host || (has_cookie && is(name, "cookie")) {
                continue;
            }
            if !is(name, "cookie") {
                self.header(name, value);
                continue;
            }
            has_cookie = true;
            self.bytes(&format!("{name}: "));
            let all = ask.headers.iter().filter(|(name, _)| is(name, "cookie"));
            for (at, (_, value)) in all.enumerate() {
                self.bytes(if at > 0 { "; " } else { "" });
                self.text(value, Place::Header);
            }
            self.piece(Piece::Cookies { lead: name.len() + 2 });
            self.bytes("\r\n");
        }
        has_cookie
    }
}

/// The pieces of a text that do not change.
fn literals(text: &Text) -> impl Iterator<Item = &[u8]> {
    text.parts.iter().filter_map(|part| match part {
        Part::Literal(bytes) => Some(&bytes[..]),
        Part::Secret(secret) => Some(secret.reveal().as_bytes()),
        Part::Hole(..) => None,
    })
}

/// What the front has checked for a path that was written in one piece may still be wrong in one with holes.
fn check_path(path: &Text) -> Result<(), String> {
    for (at, part) in path.parts.iter().enumerate() {
        match part {
            Part::Literal(bytes) => {
                let bytes = String::from_utf8_lossy(bytes);
                if at == 0 && !bytes.starts_with('/') && (bytes != "*" || path.parts.len() > 1) {
                    return Err(format!("the path `{}` does not begin with `/`", path.shown()));
                }
                check_target(&bytes)?;
            }
            // The sentence would show it.
            Part::Secret(secret) => check_target(secret.reveal())
                .map_err(|_| "a secret in the path holds what no request line may".to_owned())?,
            Part::Hole(..) => {}
        }
    }
    if path.is_empty() { Err("the path is empty\nthe root of a server is `/`".into()) } else { Ok(()) }
}

/// Whether the author's own `Connection` headers say `close`; `None` when there are none. The engine has to know it
/// before an answer comes, so it cannot be left to a hole.
fn own_close(ask: &Ask) -> Result<Option<bool>, String> {
    let mut found = None;
    for (name, value) in ask.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        let Some(bytes) = value.fixed() else {
            return Err(format!("the header `{name}` holds a value that changes from request to request"));
        };
        let text = String::from_utf8_lossy(&bytes);
        let close = text.split(',').any(|option| option.trim().eq_ignore_ascii_case("close"));
        found = Some(found.unwrap_or(false) || close);
    }
    Ok(found)
}

/// A `Host` header with holes can name anybody, so that no domain of a cookie is surely wrong.
fn origin(own_host: Option<&Text>, site: &Site) -> Origin {
    let mut origin = Origin::new(site);
    match own_host.map(Text::fixed) {
        None => {}
        Some(Some(host)) => origin.hosts.push(bare(&String::from_utf8_lossy(&host))),
        Some(None) => origin.hosts.clear(),
    }
    origin
}

/// Names in the author's own `Cookie` header, for [`Form::follow`] to tell his cookies from the user's.
/// A hole is taken for one byte that no name holds, so that a name it is part of is never recognised.
fn own_cookies(ask: &Ask) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for (_, value) in ask.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
        let mut text = Vec::new();
        for part in &value.parts {
            match part {
                Part::Literal(bytes) => text.extend_from_slice(bytes),
                Part::Secret(secret) => text.extend_from_slice(secret.reveal().as_bytes()),
                Part::Hole(..) => text.push(0),
            }
        }
        names.extend(pairs(&text).map(|(name, _)| name.to_vec()));
    }
    names
}
