//! A request ready to be written: long stretches of fields that never change, and between them the few that do.

use super::{CookieJar, Origin, Site};
use crate::value::{Scope, Unfilled, fill};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::Text;
use plimsoll_wire::h1::Writer;
use std::convert::Infallible;
use std::ops::Range;

/// One compiled request. It holds secrets, so it does not print.
pub struct Form {
    pub(super) method: String,
    /// The request line says HTTP/1.0.
    pub(super) http10: bool,
    pub(super) target: Target,
    /// All fields that never change, one behind the other in the order in which they are sent, as the writer made them.
    pub(super) made: Vec<u8>,
    /// The fields.
    pub(super) pieces: Vec<Piece>,
    pub(super) body: Body,
    pub(super) close: bool,
    pub(super) origin: Origin,
    /// Names in the author's own `Cookie` header, as far as they do not change.
    pub(super) own_cookies: Vec<Vec<u8>>,
}

/// Path and query.
pub(super) enum Target {
    Fixed(Vec<u8>),
    /// `is_open`: it begins with a hole, so that its first byte is to be looked at.
    Filled {
        text: Text,
        is_open: bool,
    },
}

/// What the fields of a request are put together from.
pub(super) enum Piece {
    /// A stretch of [`Form::made`].
    Made(Range<usize>),
    /// One whose value has holes.
    Field(String, Text),
    /// The user's cookies, behind those of the author's own field if he has one.
    Cookies(Option<(String, Text)>),
    /// The length of the filled body.
    Length,
}

pub(super) enum Body {
    None,
    Fixed(Vec<u8>),
    /// One that has holes.
    Filled(Text),
}

impl Form {
    /// Compiles a request.
    ///
    /// # Errors
    /// A sentence naming what cannot be sent, not the request: a method that is no word, a header with a line end, a
    /// path with a space in it, a `Connection` header that changes from request to request.
    pub fn compile(ask: &Ask, site: &Site) -> Result<Form, String> {
        super::compile::form(ask, site)
    }

    /// Appends the request as it goes over the wire. `jar`: the user's cookies, if they are kept. `scratch` is room for
    /// a body with holes; what it holds does not matter.
    ///
    /// # Errors
    /// A hole that cannot be filled, or whose value may not stand where it was to go; `out` is as before then.
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
        }
        let mut writer = Writer::new(out);
        let path = writer.line(&self.method, self.http10, |out| match &self.target {
            Target::Fixed(bytes) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
            Target::Filled { text, is_open } => {
                let begin = put_text(text, scope, Place::Path, out)?;
                // `//` at the begin would be read as a host by some servers, but it is the author's: only what is no
                // path at all is held back.
                if *is_open && out.get(begin) != Some(&b'/') {
                    return Err(Unfilled::Unsendable);
                }
                Ok(())
            }
        })?;
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
                        decimal(scratch.len(), out);
                        Ok::<(), Infallible>(())
                    });
                }
            }
        }
        writer.end();
        match &self.body {
            Body::None => {}
            Body::Fixed(bytes) => writer.body(bytes),
            Body::Filled(_) => writer.body(scratch),
        }
        Ok(())
    }

    /// The method is HEAD: the answer has no body.
    pub fn head_only(&self) -> bool {
        self.method == "HEAD"
    }

    /// The request says `Connection: close`, by the site's choice or by its own header.
    pub fn close(&self) -> bool {
        self.close
    }

    /// Whom the answers come from, for [`CookieJar::take`].
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// What a filled value must not hold.
#[derive(Clone, Copy)]
enum Place {
    Path,
    Header,
}

impl Place {
    /// The rules of [`plimsoll_wire::h1::check_target`] and [`plimsoll_wire::h1::check_header`] for single bytes.
    fn may_hold(self, byte: u8) -> bool {
        match self {
            Place::Path => byte.is_ascii_graphic() && byte != b'#',
            Place::Header => !byte.is_ascii_control() || byte == b'\t',
        }
    }
}

/// Appends a text; where it begins.
fn put_text(text: &Text, scope: &mut Scope<'_>, place: Place, out: &mut Vec<u8>) -> Result<usize, Unfilled> {
    let begin = out.len();
    fill(text, scope, out)?;
    if out[begin..].iter().all(|byte| place.may_hold(*byte)) { Ok(begin) } else { Err(Unfilled::Unsendable) }
}

/// A whole `Cookie` field, or nothing when no cookie belongs to the path, which stands in the output itself.
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
