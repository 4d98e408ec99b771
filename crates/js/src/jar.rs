//! The cookies of a user, as scripts see and change them (RFC 6265, without public suffixes).

/// A cookie jar.
#[derive(Debug, Default, Clone)]
pub struct Jar {
    cookies: Vec<Cookie>,
}

/// A stored cookie.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    /// Lower case, without a leading dot.
    pub domain: String,
    pub path: String,
    /// Whether it applies only to the host that set it.
    pub host_only: bool,
    pub secure: bool,
    pub http_only: bool,
    /// `Max-Age` as written, s; 0 if absent.
    pub max_age_s: i64,
    /// Expiry, s since 1970; `None` means the end of the session.
    pub expires_s: Option<i64>,
}

/// The place of a request, for which cookies are chosen.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Lower case.
    pub host: &'a str,
    /// With or without a query.
    pub path: &'a str,
    pub is_secure: bool,
    /// Time, s since 1970.
    pub now_s: i64,
}

impl Cookie {
    /// Parses a `Set-Cookie` field; `None` if it is invalid, or for another host.
    pub fn parse(field: &str, place: Place<'_>) -> Option<Cookie> {
        let mut parts = field.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
        let mut cookie = Cookie {
            name: name.trim().to_owned(),
            value: value.to_owned(),
            domain: place.host.to_owned(),
            path: default_path(place.path).to_owned(),
            host_only: true,
            ..Cookie::default()
        };
        if cookie.name.is_empty() {
            return None;
        }
        let mut max_age_s = None;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => {
                    cookie.domain = value.trim_start_matches('.').to_ascii_lowercase();
                    cookie.host_only = false;
                }
                "path" if value.starts_with('/') => cookie.path = value.to_owned(),
                "secure" => cookie.secure = true,
                "httponly" => cookie.http_only = true,
                "max-age" => max_age_s = value.parse::<i64>().ok(),
                "expires" => cookie.expires_s = plimsoll_script::ask::cookie_date(value.as_bytes()),
                _ => {}
            }
        }
        if let Some(max_age_s) = max_age_s {
            cookie.max_age_s = max_age_s;
            cookie.expires_s = Some(if max_age_s <= 0 { 0 } else { place.now_s.saturating_add(max_age_s) });
        }
        let is_own = cookie.host_only || is_within(place.host, &cookie.domain);
        is_own.then_some(cookie)
    }

    fn applies(&self, place: Place<'_>) -> bool {
        let is_host =
            if self.host_only { self.domain == place.host } else { is_within(place.host, &self.domain) };
        let path = place.path.split('?').next().unwrap_or("/");
        is_host
            && (!self.secure || place.is_secure || is_loopback(place.host))
            && self.expires_s.is_none_or(|expires_s| expires_s > place.now_s)
            && is_below(path, &self.path)
    }
}

impl Jar {
    /// Stores a cookie, or removes it if it has expired.
    pub fn set(&mut self, cookie: Cookie, now_s: i64) {
        let is_same =
            |old: &Cookie| old.name == cookie.name && old.domain == cookie.domain && old.path == cookie.path;
        let old = self.cookies.iter().position(is_same);
        match (old, cookie.expires_s.is_some_and(|expires_s| expires_s <= now_s)) {
            (Some(at), true) => drop(self.cookies.remove(at)),
            (Some(at), false) => self.cookies[at] = cookie,
            (None, true) => {}
            (None, false) => self.cookies.push(cookie),
        }
    }

    /// Returns whether it has no cookies.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Returns the cookies for a request: those with longer paths first, then older ones.
    pub fn matching<'a>(&'a self, place: Place<'_>) -> Vec<&'a Cookie> {
        let mut found: Vec<&Cookie> = self.cookies.iter().filter(|cookie| cookie.applies(place)).collect();
        found.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        found
    }

    /// Removes the cookies for a request.
    pub fn clear(&mut self, place: Place<'_>) {
        self.cookies.retain(|cookie| !cookie.applies(place));
    }

    /// Removes the cookies of a name for a request.
    pub fn delete(&mut self, place: Place<'_>, name: &str) {
        self.cookies.retain(|cookie| cookie.name != name || !cookie.applies(place));
    }
}

/// Returns whether what is sent to a host stays on this machine, so that TLS would not protect it.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Section 5.1.3.
fn is_within(host: &str, domain: &str) -> bool {
    host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Section 5.1.4.
fn is_below(path: &str, of: &str) -> bool {
    path == of || path.strip_prefix(of).is_some_and(|rest| of.ends_with('/') || rest.starts_with('/'))
}

/// Section 5.1.4.
fn default_path(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or("/");
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => &path[..at],
    }
}
