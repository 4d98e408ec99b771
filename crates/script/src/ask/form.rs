//! A request ready to be rendered: long stretches of bytes, and between them the few places that change.

use super::{Jar, Origin, Site};
use crate::value::{Scope, Unfilled, fill};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::Text;
use std::ops::Range;

/// One compiled request. It holds secrets, so it does not print.
pub struct Form {
    /// All literal bytes, one behind the other in the order in which they are sent.
    pub(super) literal: Vec<u8>,
    pub(super) pieces: Vec<Piece>,
    /// A body that has holes; one that has none is part of `literal`.
    pub(super) body: Option<Text>,
    /// Nothing changes but the cookies of the user.
    pub(super) is_fixed: bool,
    /// The path begins with a hole, so that its first byte is to be looked at.
    pub(super) is_path_open: bool,
    /// Where the target begins in the rendered request.
    pub(super) path_at: usize,
    pub(super) head_only: bool,
    pub(super) close: bool,
    /// The `Host` of the site, whatever the author's own header says.
    pub(super) host: String,
    pub(super) origin: Origin,
    /// Names in the author's own `Cookie` header, as far as they do not change.
    pub(super) own_cookies: Vec<Vec<u8>>,
}

/// What a request is put together from.
pub(super) enum Piece {
    /// A stretch of [`Form::literal`].
    Bytes(Range<usize>),
    /// One hole.
    Hole(Text, Place),
    /// The user's cookies. `lead`: how many bytes of the author's own `Cookie` line stand before its value, which was
    /// the last thing written; 0 when he has none.
    Cookies { lead: usize },
    /// The length of the filled body, in decimal.
    Length,
    /// The filled body.
    Body,
}

/// What a hole must not hold.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Path,
    Header,
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
        jar: Option<&Jar>,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unfilled> {
        let jar = jar.filter(|jar| !jar.is_empty());
        if self.is_fixed && jar.is_none() {
            out.extend_from_slice(&self.literal);
            return Ok(());
        }
        let begin = out.len();
        let rendered = self.put(begin, scope, jar, scratch, out);
        if rendered.is_err() {
            out.truncate(begin);
        }
        rendered
    }

    fn put(
        &self,
        begin: usize,
        scope: &mut Scope<'_>,
        jar: Option<&Jar>,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unfilled> {
        scratch.clear();
        if let Some(body) = &self.body {
            fill(body, scope, scratch)?;
        }
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(range) => out.extend_from_slice(&self.literal[range.clone()]),
                Piece::Hole(text, place) => {
                    let at = out.len();
                    fill(text, scope, out)?;
                    if !out[at..].iter().all(|byte| place.may_hold(*byte)) {
                        return Err(Unfilled::Unsendable);
                    }
                }
                Piece::Cookies { lead } => {
                    if let Some(jar) = jar {
                        self.put_cookies(begin, *lead, jar, scope.unix_ns, out);
                    }
                }
                Piece::Length => decimal(scratch.len(), out),
                Piece::Body => out.extend_from_slice(scratch),
            }
        }
        // `//` at the begin would be read as a host by some servers, but it is the author's: only what is no path at
        // all is held back.
        if self.is_path_open && out.get(begin + self.path_at) != Some(&b'/') {
            return Err(Unfilled::Unsendable);
        }
        Ok(())
    }

    fn put_cookies(&self, begin: usize, lead: usize, jar: &Jar, unix_ns: u64, out: &mut Vec<u8>) {
        let path_at = begin + self.path_at;
        let path_bytes = out[path_at..].iter().position(|byte| *byte == b' ').unwrap_or(0);
        let path = path_at..path_at + path_bytes;
        if lead > 0 {
            let line_at = out.iter().rposition(|byte| *byte == b'\n').map_or(begin, |at| at + 1);
            jar.complete(line_at + lead, path, self.origin.tls, unix_ns, out);
        } else {
            cookie_line(jar, path, self.origin.tls, unix_ns, out);
        }
    }

    /// The method is HEAD: the answer has no body.
    pub fn head_only(&self) -> bool {
        self.head_only
    }

    /// The request says `Connection: close`, by the site's choice or by its own header.
    pub fn close(&self) -> bool {
        self.close
    }

    /// Whom the answers come from, for [`Jar::take`].
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
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

/// Appends a whole `Cookie` line, or nothing when no cookie belongs to the path, which stands in `out` itself.
pub(super) fn cookie_line(jar: &Jar, path: Range<usize>, tls: bool, unix_ns: u64, out: &mut Vec<u8>) {
    let line_at = out.len();
    out.extend_from_slice(b"Cookie: ");
    let value_at = out.len();
    jar.complete(value_at, path, tls, unix_ns, out);
    if out.len() == value_at {
        out.truncate(line_at);
    } else {
        out.extend_from_slice(b"\r\n");
    }
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
