//! A request ready to render: long fixed parts, and the few variable fields between them.

use super::{CookieJar, Origin, Site};
use crate::call::Encoder;
use crate::value::{RequestParts, Scope, Unfilled, fill};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::Text;
use plimsoll_wire::h1::Writer;
use std::convert::Infallible;
use std::ops::Range;

/// A compiled request. It contains secrets, so it has no `Debug`.
pub struct Form {
    pub(super) method: String,
    /// Whether the request line has HTTP/1.0.
    pub(super) http10: bool,
    pub(super) target: Target,
    /// All fixed fields, rendered, in sending order.
    pub(super) made: Vec<u8>,
    /// The fields.
    pub(super) pieces: Vec<Piece>,
    pub(super) body: Body,
    pub(super) close: bool,
    pub(super) origin: Origin,
    /// The fixed cookie names in the `Cookie` header of the file.
    pub(super) own_cookies: Vec<Vec<u8>>,
    /// Whether a header contains something that is made of the request itself.
    pub(super) quotes_itself: bool,
}

/// Path and query.
pub(super) enum Target {
    Fixed(Vec<u8>),
    /// `is_open` means that it begins with a placeholder, so its first byte must be checked.
    Filled {
        text: Text,
        is_open: bool,
    },
}

/// A piece of the fields of a request.
pub(super) enum Piece {
    /// A part of [`Form::made`].
    Made(Range<usize>),
    /// A field whose value has placeholders.
    Field(String, Text),
    /// The user's cookies, after those from the file, if any.
    Cookies(Option<(String, Text)>),
    /// The length of the filled-in body.
    Length,
}

pub(super) enum Body {
    None,
    Fixed(Vec<u8>),
    /// A body with placeholders.
    Filled(Text),
    /// The message of a gRPC call with placeholders.
    Message(Encoder),
}

impl Form {
    /// Compiles a request.
    ///
    /// # Errors
    /// Returns an error, without the name of the request, for an invalid method, a header with a line end, a path with
    /// a space, or a `Connection` header with placeholders.
    pub fn compile(ask: &Ask, site: &Site) -> Result<Form, String> {
        super::compile::form(ask, site)
    }

    /// Appends the request as sent. `jar` has the user's cookies, if cookies are enabled. `scratch` is a buffer for a
    /// body with placeholders.
    ///
    /// # Errors
    /// Returns an error for a placeholder without a value, or with an invalid one, and leaves `out` unchanged.
    pub fn render(
        &self,
        scope: &mut Scope<'_>,
        jar: Option<&CookieJar>,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unfilled> {
        let begin = out.len();
        let rendered = self.put(scope, jar.filter(|jar| !jar.is_empty()), scratch, out);
        if rendered.is_err() {
            out.truncate(begin);
        }
        rendered
    }

    fn put(
        &self,
        scope: &mut Scope<'_>,
        jar: Option<&CookieJar>,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unfilled> {
        scratch.clear();
        if let Body::Filled(body) = &self.body {
            fill(body, scope, scratch)?;
        } else if let Body::Message(encoder) = &self.body {
            encoder.put(scope, scratch)?;
        }
        let body_bytes = scratch.len();
        let mut writer = Writer::new(out);
        let path = writer.line(&self.method, self.http10, |out| {
            let begin = out.len();
            match &self.target {
                Target::Fixed(bytes) => out.extend_from_slice(bytes),
                Target::Filled { text, is_open } => {
                    put_text(text, scope, Place::Path, out)?;
                    // Some servers read `//` at the beginning as a host, but it may be intended. Only a value that is
                    // not a path is rejected.
                    if *is_open && out.get(begin) != Some(&b'/') {
                        return Err(Unfilled::Unsendable);
                    }
                }
            }
            if self.quotes_itself {
                // The path is written into the output, which the headers extend; they read this copy.
                scratch.extend_from_slice(&out[begin..]);
            }
            Ok(())
        })?;
        let (filled, target) = scratch.split_at(body_bytes);
        let body = match &self.body {
            Body::Fixed(bytes) => bytes,
            Body::Filled(_) | Body::Message(_) | Body::None => filled,
        };
        let scope =
            &mut scope.with_request(RequestParts { method: self.method.as_bytes(), path: target, body });
        for piece in &self.pieces {
            match (piece, jar) {
                (Piece::Made(range), _) => writer.fields_made(&self.made[range.clone()]),
                (Piece::Field(name, text), _) => {
                    writer.field_with(name, |out| put_text(text, scope, Place::Header, out).map(drop))?;
                }
                (Piece::Cookies(Some((name, own))), jar) => writer.field_with(name, |out| {
                    let value_at = put_text(own, scope, Place::Header, out)?;
                    if let Some(jar) = jar {
                        jar.complete(value_at, path.clone(), &self.origin, scope.unix_ns, out);
                    }
                    Ok(())
                })?,
                (Piece::Cookies(None), Some(jar)) => {
                    cookie_field(jar, &path, &self.origin, scope.unix_ns, &mut writer)
                }
                (Piece::Cookies(None), None) => {}
                (Piece::Length, _) => {
                    let Ok(()) = writer.field_with("Content-Length", |out| {
                        decimal(filled.len(), out);
                        Ok::<(), Infallible>(())
                    });
                }
            }
        }
        writer.end();
        match &self.body {
            Body::None => {}
            Body::Fixed(bytes) => writer.body(bytes),
            Body::Filled(_) | Body::Message(_) => writer.body(filled),
        }
        Ok(())
    }

    /// Returns whether the method is HEAD, so that the response has no body.
    pub fn head_only(&self) -> bool {
        self.method == "HEAD"
    }

    /// Returns whether the request has `Connection: close`, from the settings or from the file.
    pub fn close(&self) -> bool {
        self.close
    }

    /// Returns the origin of its responses, for [`CookieJar::take`].
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// The place of a value, which determines the bytes that it must not contain.
#[derive(Clone, Copy)]
enum Place {
    Path,
    Header,
}

impl Place {
    /// Returns whether a byte is valid, by the rules of [`plimsoll_wire::h1::check_target`] and
    /// [`plimsoll_wire::h1::check_header`].
    fn may_hold(self, byte: u8) -> bool {
        match self {
            Place::Path => byte.is_ascii_graphic() && byte != b'#',
            Place::Header => !byte.is_ascii_control() || byte == b'\t',
        }
    }
}

/// Appends a text, and returns its beginning.
fn put_text(text: &Text, scope: &mut Scope<'_>, place: Place, out: &mut Vec<u8>) -> Result<usize, Unfilled> {
    let begin = out.len();
    fill(text, scope, out)?;
    if out[begin..].iter().all(|byte| place.may_hold(*byte)) { Ok(begin) } else { Err(Unfilled::Unsendable) }
}

/// Appends a whole `Cookie` field, or nothing if no cookie matches the path, which is in the output itself.
pub(super) fn cookie_field(
    jar: &CookieJar,
    path: &Range<usize>,
    origin: &Origin,
    unix_ns: u64,
    writer: &mut Writer<'_>,
) {
    writer.field_if_any("Cookie", |out| jar.complete(out.len(), path.clone(), origin, unix_ns, out));
}

fn decimal(number: usize, out: &mut Vec<u8>) {
    let begin = out.len();
    let mut rest = number;
    loop {
        out.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out[begin..].reverse();
}
