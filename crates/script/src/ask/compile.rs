//! Compiles a request into a [`Form`]: parts that change with every request, and long fixed parts between them.

use super::form::{Body, Piece, Target};
use super::lines::pairs;
use super::{Form, Origin, Site, bare};
use crate::call::Encoder;
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::{Part, Placeholder, Text, Transform};
use plimsoll_wire::h1::{self, Field, RequestHead, Writer, check_header, check_method, check_target};

/// Compiles a request; see [`Form::compile`].
pub(super) fn form(ask: &Ask, site: &Site) -> Result<Form, String> {
    // Fixed parts are checked once, here. Placeholders are checked each time they are filled in.
    check_method(&ask.method)?;
    check_path(&ask.path)?;
    for (name, value) in &ask.headers {
        check_header(name, "")?;
        for bytes in literals(value) {
            check_header(name, &String::from_utf8_lossy(bytes))?;
        }
    }
    let body = match (&ask.grpc, ask.body.as_ref().map(|body| (body, body.fixed()))) {
        (Some(call), _) => {
            let encoder = Encoder::compile(call)?;
            encoder.fixed().map_or_else(|| Body::Message(encoder), Body::Fixed)
        }
        (None, None) => Body::None,
        (None, Some((_, Some(bytes)))) => Body::Fixed(bytes),
        (None, Some((body, None))) => Body::Filled(body.clone()),
    };
    let own_close = own_close(ask)?;
    let close = own_close.unwrap_or(site.close);
    let names: Vec<&str> = ask.headers.iter().map(|(name, _)| name.as_str()).collect();
    let mut fields = h1::fields(&RequestHead {
        method: &ask.method,
        own: &names,
        body: match &body {
            Body::None => h1::Body::None,
            Body::Fixed(bytes) => h1::Body::Of(bytes.len()),
            Body::Filled(_) | Body::Message(_) => h1::Body::Filled,
        },
        host: &site.host,
        user_agent: site.user_agent,
        // Requests events from a server that can also send other types (WHATWG HTML section 9.2.2).
        accept: if ask.stream.is_some() { "text/event-stream" } else { "*/*" },
        http10: site.http10,
        close: site.close,
    });
    if ask.grpc.as_ref().is_some_and(|call| !call.protocol.is_web()) {
        // gRPC has neither field, and servers would pass both on as metadata of the call.
        let is_foreign = |field: &Field<'_>| match field {
            Field::Ours(name, _) => matches!(*name, "Accept" | "Content-Length"),
            Field::Length => true,
            Field::Own(_) => false,
        };
        fields.retain(|field| !is_foreign(field));
    }
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
        quotes_itself: ask.headers.iter().any(|(_, value)| quotes_request(value)),
    })
}

/// Returns whether a text contains a part of the request that it belongs to.
fn quotes_request(text: &Text) -> bool {
    text.parts.iter().any(|part| match part {
        Part::Placeholder(Placeholder::Request(_), _) => true,
        Part::Placeholder(Placeholder::Base64(inner), _) => quotes_request(inner),
        Part::Placeholder(Placeholder::Derived(derived), _) => {
            quotes_request(&derived.text)
                || matches!(&derived.how, Transform::Hmac { key, .. } if quotes_request(key))
        }
        _ => false,
    })
}

/// The pieces so far; `cut` is the beginning of the next fixed part.
#[derive(Default)]
struct Draft {
    made: Vec<u8>,
    pieces: Vec<Piece>,
    cut: usize,
}

impl Draft {
    /// Ends a fixed part, so that there is only one copy between two other pieces.
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

    /// Adds the fields. `Cookie` fields in the file are joined, because there must be only one (RFC 6265 section 5.4),
    /// and the user's cookies are added to it. Without such a field, the user's cookies come last, so that a redirect
    /// finds the same order of fields with and without cookies.
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

/// Joins the values of several `Cookie` fields.
fn joined<'a>(fields: impl Iterator<Item = &'a (String, Text)>) -> Text {
    let mut all = Text::default();
    for (at, (_, value)) in fields.enumerate() {
        all.push_literal(if at > 0 { b"; " } else { b"" });
        all.parts.extend(value.parts.iter().cloned());
    }
    all
}

/// Returns the fixed parts of a text.
fn literals(text: &Text) -> impl Iterator<Item = &[u8]> {
    text.parts.iter().filter_map(|part| match part {
        Part::Literal(bytes) => Some(&bytes[..]),
        Part::Secret(secret) => Some(secret.reveal().as_bytes()),
        Part::Placeholder(..) => None,
    })
}

/// Checks a path. The front end has checked fixed paths, but not those with placeholders.
fn check_path(path: &Text) -> Result<(), String> {
    for (at, part) in path.parts.iter().enumerate() {
        match part {
            Part::Literal(bytes) => {
                let bytes = String::from_utf8_lossy(bytes);
                if at == 0 && !bytes.starts_with('/') && (bytes != "*" || path.parts.len() > 1) {
                    return Err(format!("path `{}` must begin with `/`", path.describe()));
                }
                check_target(&bytes)?;
            }
            // The original message would show the secret.
            Part::Secret(secret) => check_target(secret.reveal())
                .map_err(|_| "a secret in the path contains an invalid character".to_owned())?,
            Part::Placeholder(..) => {}
        }
    }
    if path.is_empty() { Err("the path is empty (the root is `/`)".into()) } else { Ok(()) }
}

/// Returns whether the `Connection` headers in the file are `close`; `None` if there are none. The engine must know
/// this before the response, so placeholders are not allowed.
fn own_close(ask: &Ask) -> Result<Option<bool>, String> {
    let mut own = Vec::new();
    for (name, value) in ask.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        let Some(bytes) = value.fixed() else {
            return Err(format!("header `{name}` must be fixed, but its value changes with every request"));
        };
        own.push((name.as_str(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    Ok(h1::own_close(own.iter().map(|(name, value)| (*name, value.as_str()))))
}

/// Returns the origin for cookies. With a placeholder in the `Host` header, any domain may be valid.
fn origin(own_host: Option<&Text>, site: &Site) -> Origin {
    let mut origin = Origin::new(site);
    match own_host.map(Text::fixed) {
        None => {}
        Some(Some(host)) => origin.hosts.push(bare(&String::from_utf8_lossy(&host))),
        Some(None) => origin.hosts.clear(),
    }
    origin
}

/// Returns the cookie names in the `Cookie` header of the file, so that [`Form::follow`] can distinguish these cookies
/// from the user's. A placeholder becomes a byte that names never contain, so that a name with it never matches.
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
