//! Follows redirects: the next request is built from the bytes of the last one, so that no state is needed and no value
//! changes.

use super::form::cookie_field;
use super::lines::{first_line, lines, pairs};
use super::reference::{Place, resolve, same_place};
use super::{CookieJar, Form, Origin, Site};
use crate::value::Unfilled;
use plimsoll_plan::head::Head;
use plimsoll_plan::origin::OriginId;
use plimsoll_wire::h1::Writer;

/// The next step after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is not a redirect, or its location is invalid: the response is final.
    Stay,
    /// It redirects to a host, port, or scheme that the plan does not load.
    Elsewhere,
    /// The next request was appended.
    Follow {
        /// Whether its method is HEAD.
        head_only: bool,
        /// The origin that it goes to.
        to: OriginId,
    },
}

/// A response that may be a redirect, and its request.
#[derive(Debug, Clone, Copy)]
pub struct Redirect<'a> {
    pub status: u16,
    /// The head of the response.
    pub head: Head<'a>,
    /// The bytes of the request, which [`Form::follow`] may have built.
    pub sent: &'a [u8],
    /// The origin of the response.
    pub from: OriginId,
}

/// Headers that describe a body and are removed with it (Fetch standard, "request-body-header name", and framing).
const OF_BODY: [&str; 7] = [
    "content-length",
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
    "expect",
    "transfer-encoding",
];

impl Form {
    /// Appends the request that a response redirects to. `sites` are the origins of the plan by number, and `jar`
    /// already contains the cookies of the response.
    ///
    /// 303 changes the method to GET, unless it is HEAD. So do 301 and 302 for a POST, as in all user agents. 307 and
    /// 308 keep method and body (RFC 9110 section 15.4). On the same origin, `Authorization` is kept and credentials in
    /// `Location` are ignored. The host of the origin and the host in the sent `Host` header are the same origin. For
    /// another origin of the plan, `Authorization` and the cookies from the file are removed (Fetch standard,
    /// "HTTP-redirect fetch"), and `Host` changes.
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

    /// Keeps the sent cookies that are from the file. If a placeholder hides their names, these are all cookies that
    /// the jar does not contain and that the response does not set or remove.
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

/// Sets a header of the rendered request that starts at `begin` in `out`, and replaces those with the same name. A
/// reopened stream sets `Last-Event-ID` with it.
///
/// # Errors
/// Returns [`Unfilled::Unsendable`] if the value contains a control byte, and leaves `out` unchanged.
pub fn set_header(out: &mut Vec<u8>, begin: usize, name: &str, value: &[u8]) -> Result<(), Unfilled> {
    if value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Unfilled::Unsendable);
    }
    loop {
        let mut fields = lines(&out[begin..]);
        let found = fields.find(|line| line.is(name)).map(|line| line.whole.len());
        let behind = out.len() - fields.left();
        let Some(bytes) = found else {
            // All lines are processed, so the rest begins with the empty line.
            let line = [name.as_bytes(), b": ", value, b"\r\n"];
            out.splice(behind..behind, line.into_iter().flatten().copied());
            return Ok(());
        };
        out.drain(behind - bytes..behind);
    }
}
