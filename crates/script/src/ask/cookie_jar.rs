//! The cookies of one user (RFC 6265). The origins of a plan are all its author's, so which suffixes are public is not
//! asked: whoever may set a cookie for `example` is one of them.

use super::Origin;
use super::date::cookie_date;
use super::lines::pairs;
use plimsoll_plan::head::Head;
use plimsoll_plan::origin::OriginId;
use std::ops::Range;

/// Most cookies of one user; behind them the oldest goes.
const COOKIES_MAX: usize = 50;
/// Most bytes of one cookie, name, value and path together; a longer one is not taken (RFC 6265 section 6.1).
const COOKIE_BYTES_MAX: usize = 4096;

/// See the module. 32 bytes while it is empty.
#[derive(Default)]
pub struct CookieJar {
    /// In the order in which they are sent: longer paths first, then the older ones (section 5.4).
    cookies: Vec<Cookie>,
    /// Number of the next cookie.
    next: u32,
}

#[derive(Default)]
struct Cookie {
    /// Name, value, path and domain without anything between. Kept when a cookie is set anew, so that a session that is
    /// renewed with every answer does not allocate.
    text: Vec<u8>,
    name_bytes: u16,
    value_bytes: u16,
    path_bytes: u16,
    secure: bool,
    /// For the host alone that has set it (section 5.3 step 6).
    host_only: bool,
    /// Who has set it.
    origin: OriginId,
    /// Rises with the age of the jar; stays when the cookie is set anew (section 5.3 step 11.3).
    number: u32,
    /// Seconds since 1970; `i64::MAX`: never.
    expires_s: i64,
}

/// One `Set-Cookie` header.
struct Setting<'a> {
    name: &'a [u8],
    value: &'a [u8],
    path: Option<&'a [u8]>,
    domain: &'a [u8],
    secure: bool,
    expires_s: Option<i64>,
}

impl CookieJar {
    /// An empty one; nothing is allocated before the first cookie.
    pub fn new() -> CookieJar {
        CookieJar::default()
    }

    /// Takes the `Set-Cookie` headers of an answer. `path` is the target of the request that it answers (a query is cut
    /// off), `origin` who answered ([`super::Form::origin`]).
    pub fn take(&mut self, head: Head<'_>, path: &[u8], unix_ns: u64, origin: &Origin) {
        let now_s = (unix_ns / 1_000_000_000) as i64;
        for value in head.fields("set-cookie") {
            if let Some(setting) = Setting::read(value, now_s)
                && origin.owns(setting.domain)
            {
                self.set(&setting, path, now_s, origin);
            }
        }
    }

    /// Appends `a=1; b=2`, the value of a `Cookie` header for a request to `path`; `false`: there is nothing to say.
    pub fn header(&self, path: &[u8], origin: &Origin, unix_ns: u64, out: &mut Vec<u8>) -> bool {
        let begin = out.len();
        self.append(begin, out, |_, cookie| cookie.suits(path, origin, unix_ns));
        out.len() > begin
    }

    /// Value of the first cookie of this name, for whatever path it is.
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.cookies.iter().find(|cookie| cookie.name() == name).map(Cookie::value)
    }

    /// Forgets all cookies.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Appends to the value of a `Cookie` header that begins at `begin`, for the path at `path` of the same buffer. A
    /// cookie that the author has written by hand stands there already and is not sent twice.
    pub(super) fn complete(
        &self,
        begin: usize,
        path: Range<usize>,
        origin: &Origin,
        unix_ns: u64,
        out: &mut Vec<u8>,
    ) {
        let own = begin..out.len();
        self.append(begin, out, |out, cookie| {
            cookie.suits(&out[path.clone()], origin, unix_ns)
                && !pairs(&out[own.clone()]).any(|(name, _)| name == cookie.name())
        });
    }

    fn append(&self, begin: usize, out: &mut Vec<u8>, suits: impl Fn(&[u8], &Cookie) -> bool) {
        for cookie in &self.cookies {
            if suits(out, cookie) {
                if out.len() > begin {
                    out.extend_from_slice(b"; ");
                }
                out.extend_from_slice(cookie.name());
                out.push(b'=');
                out.extend_from_slice(cookie.value());
            }
        }
    }

    fn set(&mut self, setting: &Setting<'_>, request: &[u8], now_s: i64, origin: &Origin) {
        let path = setting.path.unwrap_or_else(|| default_path(request));
        let own_host = origin.hosts.first().map_or(&b""[..], |host| host.as_bytes());
        let domain = if setting.domain.is_empty() { own_host } else { setting.domain };
        if setting.name.len() + setting.value.len() + path.len() > COOKIE_BYTES_MAX {
            return;
        }
        let expires_s = setting.expires_s.unwrap_or(i64::MAX);
        let old = self.cookies.iter().position(|old| {
            let same_place = old.origin == origin.number || old.domain().eq_ignore_ascii_case(domain);
            same_place && old.name() == setting.name && old.path() == path
        });
        if expires_s <= now_s {
            // That is how a server takes a cookie back.
            if let Some(old) = old {
                self.cookies.remove(old);
            }
            return;
        }
        let at = old.unwrap_or_else(|| self.room(path.len(), now_s));
        // proof: `room` gives the index of a cookie that it has put there, `old` that of one that is there
        let cookie = &mut self.cookies[at];
        cookie.text.clear();
        for part in [setting.name, setting.value, path, domain] {
            cookie.text.extend_from_slice(part);
        }
        (cookie.name_bytes, cookie.value_bytes) = (setting.name.len() as u16, setting.value.len() as u16);
        cookie.path_bytes = path.len() as u16;
        (cookie.secure, cookie.expires_s) = (setting.secure, expires_s);
        (cookie.host_only, cookie.origin) = (setting.domain.is_empty(), origin.number);
    }

    /// Makes room for one more cookie, and gives its place.
    fn room(&mut self, path_bytes: usize, now_s: i64) -> usize {
        if self.cookies.len() >= COOKIES_MAX {
            self.cookies.retain(|cookie| cookie.expires_s > now_s);
        }
        if self.cookies.len() >= COOKIES_MAX {
            let oldest = self.cookies.iter().enumerate().min_by_key(|(_, cookie)| cookie.number);
            if let Some((oldest, _)) = oldest {
                self.cookies.remove(oldest);
            }
        }
        let at = self.cookies.partition_point(|cookie| cookie.path().len() >= path_bytes);
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.cookies.insert(at, Cookie { number, ..Cookie::default() });
        at
    }
}

impl Cookie {
    fn name(&self) -> &[u8] {
        &self.text[..usize::from(self.name_bytes)]
    }

    fn value(&self) -> &[u8] {
        &self.text[usize::from(self.name_bytes)..][..usize::from(self.value_bytes)]
    }

    fn path(&self) -> &[u8] {
        let begin = usize::from(self.name_bytes) + usize::from(self.value_bytes);
        &self.text[begin..begin + usize::from(self.path_bytes)]
    }

    fn domain(&self) -> &[u8] {
        &self.text
            [usize::from(self.name_bytes) + usize::from(self.value_bytes) + usize::from(self.path_bytes)..]
    }

    /// Whether it belongs to a request for `target` to an origin. Ports do not tell cookies apart (section 8.5).
    fn suits(&self, target: &[u8], origin: &Origin, unix_ns: u64) -> bool {
        (origin.tls || !self.secure)
            && (self.origin == origin.number || origin.is_of(self.domain(), self.host_only))
            && self.expires_s > (unix_ns / 1_000_000_000) as i64
            && path_matches(without_query(target), self.path())
    }
}

impl<'a> Setting<'a> {
    /// Section 5.2; `None`: to be ignored as a whole.
    fn read(header: &'a [u8], now_s: i64) -> Option<Setting<'a>> {
        // Sent back in a request of ours: no line end may come with it.
        if header.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return None;
        }
        let mut parts = header.split(|byte| *byte == b';');
        let (name, value) = pair(parts.next()?);
        let value = value.filter(|_| !name.is_empty())?;
        let (path, domain, secure) = (None, b"".as_slice(), false);
        let mut setting = Setting { name, value, path, domain, secure, expires_s: None };
        let mut max_age_s = None;
        for part in parts {
            let (key, value) = pair(part);
            let value = value.unwrap_or_default();
            let is = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
            // `HttpOnly`, `SameSite` and whatever comes yet speak to browsers.
            if is("expires") {
                setting.expires_s = cookie_date(value).or(setting.expires_s);
            } else if is("max-age") {
                max_age_s = max_age(value).or(max_age_s);
            } else if is("domain") && !value.is_empty() {
                setting.domain = value.strip_prefix(b".").unwrap_or(value);
            } else if is("path") {
                setting.path = value.starts_with(b"/").then_some(value);
            } else if is("secure") {
                setting.secure = true;
            }
        }
        if let Some(age_s) = max_age_s {
            setting.expires_s = Some(if age_s > 0 { now_s.saturating_add(age_s) } else { i64::MIN });
        }
        Some(setting)
    }
}

/// `name=value`, trimmed.
fn pair(part: &[u8]) -> (&[u8], Option<&[u8]>) {
    match part.iter().position(|byte| *byte == b'=') {
        Some(at) => (part[..at].trim_ascii(), Some(part[at + 1..].trim_ascii())),
        None => (part.trim_ascii(), None),
    }
}

/// Seconds; a number too large for them is as good as for ever (section 5.2.2).
fn max_age(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let far = if value.starts_with(b"-") { i64::MIN } else { i64::MAX };
    Some(str::from_utf8(value).ok()?.parse().unwrap_or(far))
}

impl Origin {
    /// Whether the host may speak for `domain`; it may when none is named.
    fn owns(&self, domain: &[u8]) -> bool {
        domain.is_empty() || self.hosts.is_empty() || self.is_of(domain, false)
    }

    /// Whether one of the hosts is `domain`, or is in it unless only the host itself will do (section 5.1.3).
    fn is_of(&self, domain: &[u8], host_only: bool) -> bool {
        self.hosts.iter().any(|host| {
            let Some(front) = host.len().checked_sub(domain.len()) else { return false };
            // Part of an address is no domain.
            let is_name = host.parse::<std::net::IpAddr>().is_err();
            host.as_bytes()[front..].eq_ignore_ascii_case(domain)
                && (front == 0 || (!host_only && is_name && host.as_bytes()[front - 1] == b'.'))
        })
    }
}

fn without_query(target: &[u8]) -> &[u8] {
    target.split(|byte| *byte == b'?').next().unwrap_or_default()
}

/// Where a cookie belongs that does not say it: the directory of the request (section 5.1.4).
fn default_path(target: &[u8]) -> &[u8] {
    let path = without_query(target);
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(last @ 1..) if path.starts_with(b"/") => &path[..last],
        _ => b"/",
    }
}

/// Section 5.1.4.
fn path_matches(path: &[u8], of_cookie: &[u8]) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || of_cookie.ends_with(b"/"))
        // `*` and the like have no path: only what is for the whole host goes along.
        || (of_cookie == b"/" && !path.starts_with(b"/"))
}
