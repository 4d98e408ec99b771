//! Behind a redirect: the next request is made from the bytes of the last one, so that nothing has to be remembered and
//! no value is drawn anew.

use super::form::cookie_field;
use super::lines::{first_line, lines, pairs};
use super::reference::{Place, resolve, same_place};
use super::{CookieJar, Form, Origin, Site};
use crate::value::Unfilled;
use plimsoll_plan::head::Head;
use plimsoll_plan::origin::OriginId;
use plimsoll_wire::h1::Writer;

/// What an answer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is no redirect, or one that leads nowhere: it is judged as it is.
    Stay,
    /// It leads to a host, port or scheme that is not loaded.
    Elsewhere,
    /// The next request was appended.
    Follow {
        /// Its method is HEAD.
        head_only: bool,
        /// The origin that it goes to.
        to: OriginId,
    },
}

/// An answer that may lead on, and the request that it answers.
#[derive(Debug, Clone, Copy)]
pub struct Redirect<'a> {
    pub status: u16,
    /// Of the answer.
    pub head: Head<'a>,
    /// The bytes of the request, itself perhaps made by [`Form::follow`].
    pub sent: &'a [u8],
    /// The origin that answered.
    pub from: OriginId,
}

/// Headers that speak of a body and go with it (Fetch standard, "request-body-header name", and the framing).
const OF_BODY: [&str; 6] = [
    "content-length",
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
    "transfer-encoding",
];

impl Form {
    /// Appends the request that an answer redirects to. `sites` are the origins of the plan by number; `jar` has taken
    /// the answer's cookies already.
    ///
    /// 303 becomes GET, unless it was HEAD; so do 301 and 302 of a POST, as all user agents have it; 307 and 308 keep
    /// method and body (RFC 9110 section 15.4). At the same origin `Authorization` is kept, and a name with a password
    /// in `Location` is not taken over; the origin's own host counts as the same, and the one in the `Host` header as
    /// sent. To another origin of the plan `Authorization` and the author's own cookies do not go along
    /// (Fetch standard, "HTTP-redirect fetch"), and `Host` is that origin's.
    pub fn follow(
        &self,
        redirect: &Redirect<'_>,
        sites: &[Site],
        jar: Option<&CookieJar>,
        unix_ns: u64,
        out: &mut Vec<u8>,
    ) -> Next {
        let Redirect { status, head, sent, from } = *redirect;
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Next::Stay;
        }
        let Some(location) = head.field("location") else { return Next::Stay };
        let Some(site) = sites.get(usize::from(from)) else { return Next::Stay };
        let mut words = first_line(sent).splitn(3, |byte| *byte == b' ');
        let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Next::Stay;
        };
        let becomes_get = match status {
            303 => method != b"HEAD",
            301 | 302 => method == b"POST",
            _ => false,
        };
        let drops_body = becomes_get && method != b"GET";
        let method = if becomes_get { b"GET" } else { method };
        let Ok(method) = str::from_utf8(method) else { return Next::Stay };
        let host = lines(sent).find(|line| line.is("host")).map_or(&b""[..], |line| line.value);
        let find = |authority: &[u8], tls: bool| {
            let hosts = [site.host.as_bytes(), host];
            if tls == site.tls && hosts.iter().any(|host| same_place(authority, host, tls)) {
                return Some(from);
            }
            let is = |site: &&Site| tls == site.tls && same_place(authority, site.host.as_bytes(), tls);
            sites.iter().find(is).map(|site| site.number)
        };
        let begin = out.len();
        let mut to = from;
        let mut writer = Writer::new(out);
        let line = writer.line(method, version == b"HTTP/1.0", |out| {
            match resolve(target, location, (from, site.tls), find, out) {
                Place::At(origin) => {
                    to = origin;
                    Ok(())
                }
                Place::Elsewhere => Err(Next::Elsewhere),
                Place::Nowhere => Err(Next::Stay),
            }
        });
        let path = match line {
            Ok(path) => path,
            Err(next) => {
                out.truncate(begin);
                return next;
            }
        };
        let other = (to != self.origin.number).then(|| Origin::new(&sites[usize::from(to)]));
        let origin = other.as_ref().unwrap_or(&self.origin);
        let mut has_cookie = false;
        let mut fields = lines(sent);
        for line in fields.by_ref() {
            if drops_body && OF_BODY.iter().any(|name| line.is(name)) {
                continue;
            }
            if to != from && line.is("host") {
                writer.field("Host", sites[usize::from(to)].host.as_bytes());
                continue;
            }
            if to != from && (line.is("authorization") || line.is("cookie")) {
                continue;
            }
            match jar.filter(|_| line.is("cookie")) {
                None => writer.fields_made(line.whole),
                Some(jar) => {
                    has_cookie = true;
                    writer.field_if_any("Cookie", |out| {
                        let value_at = out.len();
                        self.keep_own_cookies(line.value, head, jar, out);
                        jar.complete(value_at, path.clone(), origin, unix_ns, out);
                    });
                }
            }
        }
        if let Some(jar) = jar.filter(|_| !has_cookie) {
            cookie_field(jar, &path, origin, unix_ns, &mut writer);
        }
        writer.end();
        if !drops_body {
            writer.body(fields.body());
        }
        Next::Follow { head_only: method == "HEAD", to }
    }

    /// Of the cookies that were sent, those that the author wrote by hand. Where a hole hides their names, everything
    /// counts as his that neither the jar holds nor this answer sets or takes back.
    fn keep_own_cookies(&self, sent: &[u8], head: Head<'_>, jar: &CookieJar, out: &mut Vec<u8>) {
        let mut glue: &[u8] = b"";
        for (name, value) in pairs(sent) {
            let is_own = self.own_cookies.iter().any(|own| own == name);
            let is_servers = || {
                let mut set = head.fields("set-cookie");
                jar.value(name).is_some()
                    || set.any(|value| pairs(value).next().is_some_and(|(set, _)| set == name))
            };
            if is_own || !is_servers() {
                let sign: &[u8] = if name.is_empty() { b"" } else { b"=" };
                for part in [glue, name, sign, value] {
                    out.extend_from_slice(part);
                }
                glue = b"; ";
            }
        }
    }
}

/// Puts a header into the rendered request that stands in `out` from `begin` on, in place of those of the same name:
/// how a stream that is opened again says `Last-Event-ID`.
///
/// # Errors
/// [`Unfilled::Unsendable`] when the value holds a control byte; `out` is as before then.
pub fn set_header(out: &mut Vec<u8>, begin: usize, name: &str, value: &[u8]) -> Result<(), Unfilled> {
    if value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Unfilled::Unsendable);
    }
    loop {
        let mut fields = lines(&out[begin..]);
        let found = fields.find(|line| line.is(name)).map(|line| line.whole.len());
        let behind = out.len() - fields.left();
        let Some(bytes) = found else {
            // All lines are through: what is left begins with the empty one.
            let line = [name.as_bytes(), b": ", value, b"\r\n"];
            out.splice(behind..behind, line.into_iter().flatten().copied());
            return Ok(());
        };
        out.drain(behind - bytes..behind);
    }
}
