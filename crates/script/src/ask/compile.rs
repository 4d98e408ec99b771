//! From a request as its author wrote it to a [`Form`]: what changes from request to request, and long stretches
//! between that do not.

use super::form::{Body, Piece, Target};
use super::lines::pairs;
use super::{Form, Origin, Site, bare};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::{Part, Text};
use plimsoll_wire::h1::{self, Field, RequestHead, Writer, check_header, check_method, check_target};

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
    let body = match ask.body.as_ref().map(|body| (body, body.fixed())) {
        None => Body::None,
        Some((_, Some(bytes))) => Body::Fixed(bytes),
        Some((body, None)) => Body::Filled(body.clone()),
    };
    let own_close = own_close(ask)?;
    let close = own_close.unwrap_or(site.close);
    let names: Vec<&str> = ask.headers.iter().map(|(name, _)| name.as_str()).collect();
    let fields = h1::fields(&RequestHead {
        method: &ask.method,
        own: &names,
        body: match &body {
            Body::None => h1::Body::None,
            Body::Fixed(bytes) => h1::Body::Of(bytes.len()),
            Body::Filled(_) => h1::Body::Filled,
        },
        host: &site.host,
        user_agent: site.user_agent,
        // A server that can answer otherwise, too, is told that events are wanted (WHATWG HTML section 9.2.2).
        accept: if ask.stream.is_some() { "text/event-stream" } else { "*/*" },
        http10: site.http10,
        close: site.close,
    });
    let target = match ask.path.fixed() {
        Some(bytes) => Target::Fixed(bytes),
        None => Target::Filled {
            text: ask.path.clone(),
            is_open: matches!(ask.path.parts.first(), Some(Part::Placeholder(..))),
        },
    };
    let mut draft = Draft::default();
    draft.fields(ask, &fields);
    let host = ask.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    Ok(Form {
        method: ask.method.clone(),
        http10: site.http10,
        target,
        made: draft.made,
        pieces: draft.pieces,
        body,
        close,
        origin: origin(host.map(|(_, value)| value), site),
        own_cookies: own_cookies(ask),
    })
}

/// Pieces so far; `cut` is where the next stretch of fields that never change begins.
#[derive(Default)]
struct Draft {
    made: Vec<u8>,
    pieces: Vec<Piece>,
    cut: usize,
}

impl Draft {
    /// Ends a stretch of fields: between two pieces there is one copy, whatever it was made from.
    fn piece(&mut self, piece: Option<Piece>) {
        if self.cut < self.made.len() {
            self.pieces.push(Piece::Made(self.cut..self.made.len()));
            self.cut = self.made.len();
        }
        self.pieces.extend(piece);
    }

    fn field(&mut self, name: &str, value: &Text) {
        match value.fixed() {
            Some(bytes) => Writer::new(&mut self.made).field(name, &bytes),
            None => self.piece(Some(Piece::Field(name.to_owned(), value.clone()))),
        }
    }

    /// The author's `Cookie` fields become one, as there must not be more (RFC 6265 section 5.4), to which the user's
    /// cookies are added. Without one the user's stand last, so that a redirect finds the same order of fields with and
    /// without cookies.
    fn fields(&mut self, ask: &Ask, fields: &[Field<'_>]) {
        let is_cookie = |name: &str| name.eq_ignore_ascii_case("cookie");
        let mut has_cookie = false;
        for field in fields {
            match field {
                Field::Own(at) if is_cookie(&ask.headers[*at].0) => {
                    if !has_cookie {
                        let own = joined(ask.headers.iter().filter(|(name, _)| is_cookie(name)));
                        self.piece(Some(Piece::Cookies(Some((ask.headers[*at].0.clone(), own)))));
                    }
                    has_cookie = true;
                }
                Field::Own(at) => self.field(&ask.headers[*at].0, &ask.headers[*at].1),
                Field::Ours(name, value) => Writer::new(&mut self.made).field(name, value.as_bytes()),
                Field::Length => self.piece(Some(Piece::Length)),
            }
        }
        self.piece((!has_cookie).then_some(Piece::Cookies(None)));
    }
}

/// The values of several `Cookie` fields as that of one.
fn joined<'a>(fields: impl Iterator<Item = &'a (String, Text)>) -> Text {
    let mut all = Text::default();
    for (at, (_, value)) in fields.enumerate() {
        all.push_literal(if at > 0 { b"; " } else { b"" });
        all.parts.extend(value.parts.iter().cloned());
    }
    all
}

/// The pieces of a text that do not change.
fn literals(text: &Text) -> impl Iterator<Item = &[u8]> {
    text.parts.iter().filter_map(|part| match part {
        Part::Literal(bytes) => Some(&bytes[..]),
        Part::Secret(secret) => Some(secret.reveal().as_bytes()),
        Part::Placeholder(..) => None,
    })
}

/// What the front has checked for a path that was written in one piece may still be wrong in one with holes.
fn check_path(path: &Text) -> Result<(), String> {
    for (at, part) in path.parts.iter().enumerate() {
        match part {
            Part::Literal(bytes) => {
                let bytes = String::from_utf8_lossy(bytes);
                if at == 0 && !bytes.starts_with('/') && (bytes != "*" || path.parts.len() > 1) {
                    return Err(format!("the path `{}` does not begin with `/`", path.describe()));
                }
                check_target(&bytes)?;
            }
            // The sentence would show it.
            Part::Secret(secret) => check_target(secret.reveal())
                .map_err(|_| "a secret in the path holds what no request line may".to_owned())?,
            Part::Placeholder(..) => {}
        }
    }
    if path.is_empty() { Err("the path is empty\nthe root of a server is `/`".into()) } else { Ok(()) }
}

/// Whether the author's own `Connection` headers say `close`; `None` when there are none. The engine has to know it
/// before an answer comes, so it cannot be left to a hole.
fn own_close(ask: &Ask) -> Result<Option<bool>, String> {
    let mut own = Vec::new();
    for (name, value) in ask.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        let Some(bytes) = value.fixed() else {
            return Err(format!("the header `{name}` holds a value that changes from request to request"));
        };
        own.push((name.as_str(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    Ok(h1::own_close(own.iter().map(|(name, value)| (*name, value.as_str()))))
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
                Part::Placeholder(..) => text.push(0),
            }
        }
        names.extend(pairs(&text).map(|(name, _)| name.to_vec()));
    }
    names
}
