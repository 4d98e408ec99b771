//! The cookies of one user (RFC 6265). It does not check for public suffixes, because all origins of a plan belong to
//! the same user, so any of them may set a cookie for `example`.

use super::Origin;
use super::date::cookie_date;
use super::lines::pairs;
use plimsoll_plan::head::Head;
use plimsoll_plan::origin::OriginId;
use std::ops::Range;

/// Maximum number of cookies of one user; another cookie removes the oldest.
const COOKIES_MAX: usize = 50;
/// Maximum size of one cookie in bytes: name, value, and path. Longer cookies are ignored (RFC 6265 section 6.1).
const COOKIE_BYTES_MAX: usize = 4096;

/// The cookies of one user. It takes 32 bytes while it is empty.
#[derive(Default)]
pub struct CookieJar {
    /// Cookies in sending order: longer paths first, then older cookies (section 5.4).
    cookies: Vec<Cookie>,
    /// Number of the next cookie.
    next: u32,
}

#[derive(Default)]
struct Cookie {
    /// Name, value, path, and domain, without separators. It is reused when a cookie is replaced, so that a session
    /// that every response renews does not allocate.
    text: Vec<u8>,
    name_bytes: u16,
    value_bytes: u16,
    path_bytes: u16,
    secure: bool,
    /// Whether it applies only to the host that set it (section 5.3 step 6).
    host_only: bool,
    /// The origin that set it.
    origin: OriginId,
    /// Increases with every new cookie, and stays when a cookie is replaced (section 5.3 step 11.3).
    number: u32,
    /// Expiry, in seconds since 1970; `i64::MAX` means never.
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
    /// Returns an empty jar, which allocates nothing before the first cookie.
    pub fn new() -> CookieJar {
        CookieJar::default()
    }

    /// Stores the cookies of a response. `path` is the target of its request (a query is ignored), and `origin` its
    /// origin ([`super::Form::origin`]).
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

    /// Appends `a=1; b=2`, the value of a `Cookie` header for a request to `path`. Returns false if there are no
    /// cookies.
    pub fn header(&self, path: &[u8], origin: &Origin, unix_ns: u64, out: &mut Vec<u8>) -> bool {
        let begin = out.len();
        self.append(begin, out, |_, cookie| cookie.suits(path, origin, unix_ns));
        out.len() > begin
    }

    /// Returns the value of the first cookie with this name, for any path.
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.cookies.iter().find(|cookie| cookie.name() == name).map(Cookie::value)
    }

    /// Removes all cookies.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Appends to the value of a `Cookie` header that begins at `begin`, for the path at `path` of the same buffer.
    /// Cookies from the file are already there and are not sent twice.
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
            // A server removes a cookie with a past expiry.
            if let Some(old) = old {
                self.cookies.remove(old);
            }
            return;
        }
        let at = old.unwrap_or_else(|| self.room(path.len(), now_s));
        // proof: `room` returns the index of a cookie that it has added, and `old` is the index of an existing one.
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

    /// Adds space for one more cookie, and returns its index.
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

    /// Returns whether it belongs to a request for `target` to an origin. Ports do not matter (section 8.5).
    fn suits(&self, target: &[u8], origin: &Origin, unix_ns: u64) -> bool {
        (origin.tls || !self.secure)
            && (self.origin == origin.number || origin.is_of(self.domain(), self.host_only))
            && self.expires_s > (unix_ns / 1_000_000_000) as i64
            && path_matches(without_query(target), self.path())
    }
}

impl<'a> Setting<'a> {
    /// Parses a `Set-Cookie` header (section 5.2). Returns `None` if it must be ignored.
    fn read(header: &'a [u8], now_s: i64) -> Option<Setting<'a>> {
        // The cookie is sent back in a request, so it must not contain a line end.
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
            // `HttpOnly`, `SameSite`, and future attributes concern only browsers.
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

/// Splits `name=value`, trimmed.
fn pair(part: &[u8]) -> (&[u8], Option<&[u8]>) {
    match part.iter().position(|byte| *byte == b'=') {
        Some(at) => (part[..at].trim_ascii(), Some(part[at + 1..].trim_ascii())),
        None => (part.trim_ascii(), None),
    }
}

/// Parses seconds. A number that is too large means never (section 5.2.2).
fn max_age(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let far = if value.starts_with(b"-") { i64::MIN } else { i64::MAX };
    Some(str::from_utf8(value).ok()?.parse().unwrap_or(far))
}

impl Origin {
    /// Returns whether a host may set cookies for `domain`; always true for an empty domain.
    fn owns(&self, domain: &[u8]) -> bool {
        domain.is_empty() || self.hosts.is_empty() || self.is_of(domain, false)
    }

    /// Returns whether one of the hosts is `domain`, or without `host_only` a subdomain of it (section 5.1.3).
    fn is_of(&self, domain: &[u8], host_only: bool) -> bool {
        self.hosts.iter().any(|host| {
            let Some(front) = host.len().checked_sub(domain.len()) else { return false };
            // Part of an IP address is not a domain.
            let is_name = host.parse::<std::net::IpAddr>().is_err();
            host.as_bytes()[front..].eq_ignore_ascii_case(domain)
                && (front == 0 || (!host_only && is_name && host.as_bytes()[front - 1] == b'.'))
        })
    }
}

fn without_query(target: &[u8]) -> &[u8] {
    target.split(|byte| *byte == b'?').next().unwrap_or_default()
}

/// Returns the default path of a cookie: the directory of the request (section 5.1.4).
fn default_path(target: &[u8]) -> &[u8] {
    let path = without_query(target);
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(last @ 1..) if path.starts_with(b"/") => &path[..last],
        _ => b"/",
    }
}

/// Returns whether a path matches that of a cookie (section 5.1.4).
fn path_matches(path: &[u8], of_cookie: &[u8]) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || of_cookie.ends_with(b"/"))
        // `*` and similar targets have no path, so only cookies for the whole host match.
        || (of_cookie == b"/" && !path.starts_with(b"/"))
}
