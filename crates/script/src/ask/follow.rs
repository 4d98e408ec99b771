//! Behind a redirect: the next request is made from the bytes of the last one, so that nothing has to be remembered and
//! no value is drawn anew.

use super::form::cookie_line;
use super::lines::{first_line, lines, pairs};
use super::reference::{Place, resolve};
use super::{Form, Jar};
use crate::value::Unfilled;

/// What an answer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is no redirect, or one that leads nowhere: it is judged as it is.
    Stay,
    /// It leads to another host, port or scheme, which is not loaded.
    Elsewhere,
    /// The next request was appended.
    Follow {
        /// Its method is HEAD.
        head_only: bool,
    },
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
    /// Appends the request that an answer redirects to. `head` is the raw head of the answer, `sent` the bytes of the
    /// request that it answers, itself perhaps made here. `jar` has taken the answer's cookies already.
    ///
    /// 303 becomes GET, unless it was HEAD; so do 301 and 302 of a POST, as all user agents have it; 307 and 308 keep
    /// method and body (RFC 9110 section 15.4). `Authorization` is kept, as the host is the same, and a name with a
    /// password in `Location` is not taken over; a redirect to another place is not followed. Either the target's host
    /// counts as the same, or the one in the `Host` header as sent.
    pub fn follow(
        &self,
        status: u16,
        head: &[u8],
        sent: &[u8],
        jar: Option<&Jar>,
        unix_ns: u64,
        out: &mut Vec<u8>,
    ) -> Next {
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Next::Stay;
        }
        let Some(location) = lines(head).find(|line| line.is("location")) else { return Next::Stay };
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
        let host = lines(sent).find(|line| line.is("host")).map_or(&b""[..], |line| line.value);
        let begin = out.len();
        out.extend_from_slice(method);
        out.push(b' ');
        let path_at = out.len();
        let hosts = [self.host.as_bytes(), host];
        match resolve(target, location.value, hosts, self.origin.tls, out) {
            Place::Here => {}
            place => {
                out.truncate(begin);
                return if place == Place::Elsewhere { Next::Elsewhere } else { Next::Stay };
            }
        }
        let path = path_at..out.len();
        for part in [b" ", version, b"\r\n"] {
            out.extend_from_slice(part);
        }
        let mut has_cookie = false;
        let mut fields = lines(sent);
        for line in fields.by_ref() {
            if drops_body && OF_BODY.iter().any(|name| line.is(name)) {
                continue;
            }
            match jar.filter(|_| line.is("cookie")) {
                None => out.extend_from_slice(line.whole),
                Some(jar) => {
                    has_cookie = true;
                    let line_at = out.len();
                    out.extend_from_slice(b"Cookie: ");
                    let value_at = out.len();
                    self.keep_own_cookies(line.value, head, jar, out);
                    jar.complete(value_at, path.clone(), self.origin.tls, unix_ns, out);
                    if out.len() == value_at {
                        out.truncate(line_at);
                    } else {
                        out.extend_from_slice(b"\r\n");
                    }
                }
            }
        }
        if let Some(jar) = jar.filter(|_| !has_cookie) {
            cookie_line(jar, path, self.origin.tls, unix_ns, out);
        }
        out.extend_from_slice(b"\r\n");
        if !drops_body {
            out.extend_from_slice(fields.body());
        }
        Next::Follow { head_only: method == b"HEAD" }
    }

    /// Of the cookies that were sent, those that the author wrote by hand. Where a hole hides their names, everything
    /// counts as his that neither the jar holds nor this answer sets or takes back.
    fn keep_own_cookies(&self, sent: &[u8], head: &[u8], jar: &Jar, out: &mut Vec<u8>) {
        let mut glue: &[u8] = b"";
        for (name, value) in pairs(sent) {
            let is_own = self.own_cookies.iter().any(|own| own == name);
            let is_servers = || {
                let mut set = lines(head).filter(|line| line.is("set-cookie"));
                jar.value(name).is_some()
                    || set.any(|line| pairs(line.value).next().is_some_and(|(set, _)| set == name))
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
