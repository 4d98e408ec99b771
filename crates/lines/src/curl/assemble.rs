//! Builds the request from the options.

use super::{Line, form};
use plimsoll_build::header;
use plimsoll_build::requests;
use plimsoll_plan::Draft;
use plimsoll_plan::delivery::CONTINUE_NS;
use plimsoll_plan::link::{ClientFiles, Http};
use plimsoll_plan::request::{Url, url};

impl Line {
    /// Builds the request. Mistakes go into `wrong`, and the draft is valid only if there are none.
    pub(super) fn finish(&mut self) -> Draft {
        let mut draft = Draft { timeout_ns: self.timeout_ns, ..Draft::default() };
        if let Some(ns) = self.connect_timeout_ns {
            draft.limits.connect_timeout_ns = ns;
        }
        if !self.form.is_empty() && self.data.bytes.is_some() {
            self.complain("-F", "`-F` and `-d` both set the body", "keep one of them");
        }
        if !self.form.is_empty() && (self.get || self.head) {
            self.complain(
                "-F",
                "`-F` sets the body of a POST, but `-G` and `-I` have none",
                "remove `-G` and `-I`",
            );
        }
        if self.follows {
            // curl's default.
            draft.redirects = Some(self.redirects_max.unwrap_or(50));
            if self.referer_auto {
                let message = "`;auto` sets a `Referer` on each redirect, which is not supported";
                self.complain("-e", message, "remove `;auto`");
            }
        }
        if self.head && self.data.bytes.is_some() && !self.get {
            self.complain("-I", "`-I` sends a HEAD, but `-d` sends a POST", "keep one of them, or add `-G`");
        }
        let text = match self.urls.as_slice() {
            [one] => one.clone(),
            [] => {
                self.complain("", "missing URL", "add a URL, such as `http://127.0.0.1:8080/`");
                return draft;
            }
            [_, second, ..] => {
                let message = format!("unexpected second URL `{second}`");
                self.complain("", message, "write one URL, and quote values that contain spaces");
                return draft;
            }
        };
        let text = self.url_text(text);
        let url = match url(&text) {
            Ok(url) => url,
            Err(problem) => {
                self.complain_of("", problem);
                return draft;
            }
        };
        let path = if self.path_as_is { url.path.clone() } else { without_dots(&url.path) };
        let method = self.method.clone().unwrap_or_else(|| {
            let inferred = match (self.head, self.get, &self.data.bytes) {
                (true, ..) => "HEAD",
                (_, false, Some(_)) => "POST",
                _ if !self.form.is_empty() => "POST",
                _ => "GET",
            };
            inferred.to_owned()
        });
        let form = (!self.form.is_empty()).then(|| form::body(&self.form));
        if let Some((boundary, _)) = &form {
            self.add_boundary(boundary);
            self.imply("Content-Type", format!("multipart/form-data; boundary={boundary}"));
        }
        let headers = self.all_headers(url.credentials.as_deref());
        let body = match form {
            Some((_, body)) => Some(body),
            None if self.get => None,
            None => self.data.bytes.take(),
        };
        let headers = self.asking_first(headers, body.as_deref(), &url, &mut draft);
        if let Err(problem) = header::check_length(&headers, body.as_deref()) {
            self.complain_of("-H", problem);
        }
        match (self.certificate.take(), self.key.take()) {
            (None, None) => {}
            (Some(certificate), Some(key)) => self.files.clients.push(ClientFiles { certificate, key }),
            (Some(_), None) | (None, Some(_)) => self.complain(
                "--key",
                "`--cert` and `--key` require each other",
                "write both `--cert` and `--key`",
            ),
        }
        if let (Some(proxy), Some(login)) = (&mut self.link.route.proxy, self.proxy_login.take()) {
            (proxy.login, proxy.has_login) = (Some(login), true);
        }
        self.settle_tls();
        draft.link = std::mem::take(&mut self.link);
        if !url.target.tls {
            // curl accepts TLS options with any URL; without TLS they have no effect.
            draft.link.tls = None;
        }
        draft.tls_files = std::mem::take(&mut self.files);
        // The headers contain what the credentials imply, unless it was removed.
        let url = Url { path, credentials: None, ..url };
        let (target, request) = requests::request(method, url, headers, body);
        draft.target = Some(target);
        draft.requests.push(request);
        draft
    }

    /// Returns the URL with the data of `-G` in its query. Patterns of several URLs are rejected.
    fn url_text(&mut self, mut text: String) -> String {
        // A later `://` belongs to a query: `h/go?to=http://i`.
        if text.split_once("://").is_none_or(|(scheme, _)| scheme.contains(['/', '?', '#']))
            && !text.is_empty()
        {
            text.insert_str(0, "http://");
        }
        let path = text.split_once("://").map_or("", |(_, rest)| rest);
        let path = path.find(['/', '?']).map_or("", |at| &path[at..]);
        if !self.glob_off && path.contains(['{', '}', '[', ']']) {
            self.complain(
                "",
                "URL patterns are not supported: curl reads the brackets in this URL as a pattern",
                "add `-g` if the brackets belong to the URL",
            );
        }
        let (false, true, Some(data)) = (text.is_empty(), self.get, &self.data.bytes) else { return text };
        match std::str::from_utf8(data) {
            Ok("") => {}
            Ok(data) => {
                if let Some(fragment) = text.find('#') {
                    text.truncate(fragment);
                }
                text.push(if text.contains('?') { '&' } else { '?' });
                text.push_str(data);
            }
            Err(_) => {
                self.complain("-G", "the data is not text, which a URL requires", "use `--data-urlencode`")
            }
        }
        text
    }

    /// Lets the body wait for `100 Continue` if the header `Expect` says so, or if curl would add it: over HTTP/1.1, to
    /// a body above 1 MiB.
    fn asking_first(
        &self,
        mut headers: Vec<(String, String)>,
        body: Option<&[u8]>,
        url: &Url,
        draft: &mut Draft,
    ) -> Vec<(String, String)> {
        const LARGE_BYTES: usize = 1 << 20;
        let bytes = body.map_or(0, <[u8]>::len);
        let is_expect = |name: &str| name.eq_ignore_ascii_case("expect");
        let own = headers.iter().find(|(name, _)| is_expect(name));
        let may_be_http2 = match self.link.http {
            Http::Auto => url.target.tls,
            http => http == Http::V2,
        };
        let is_modern = !may_be_http2 && self.link.http != Http::V10;
        let asks = match own {
            Some((_, value)) => bytes > 0 && value.eq_ignore_ascii_case("100-continue"),
            None => bytes > LARGE_BYTES && is_modern && !self.without.iter().any(|name| is_expect(name)),
        };
        if asks {
            headers.retain(|(name, _)| !is_expect(name));
            draft.continue_ns = Some(CONTINUE_NS);
        }
        headers
    }

    /// Adds the boundary to a `Content-Type: multipart/...` that has none, as curl does.
    fn add_boundary(&mut self, boundary: &str) {
        let is_bare = |value: &str| {
            let value = value.to_ascii_lowercase();
            value.trim_start().starts_with("multipart/") && !value.contains("boundary=")
        };
        let types = self.headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        for (_, value) in types.filter(|(_, value)| is_bare(value)) {
            value.push_str(&format!("; boundary={boundary}"));
        }
    }

    /// Returns the headers from `-H` in their order, then those that options imply, unless `-H` replaced or removed
    /// them.
    fn all_headers(&mut self, credentials: Option<&str>) -> Vec<(String, String)> {
        if let Some(credentials) = credentials
            && !self.implied.iter().any(|(name, _)| *name == "Authorization")
        {
            self.imply("Authorization", requests::basic(credentials));
        }
        if !self.cookies.is_empty() {
            self.imply("Cookie", self.cookies.join(";"));
        }
        if self.data.json {
            self.imply("Content-Type", "application/json".into());
            self.imply("Accept", "application/json".into());
        } else if self.data.bytes.is_some() && !self.get {
            self.imply("Content-Type", "application/x-www-form-urlencoded".into());
        }
        let mut all = self.headers.clone();
        for (name, value) in std::mem::take(&mut self.implied) {
            let named = |other: &str| other.eq_ignore_ascii_case(name);
            if self.headers.iter().any(|(n, _)| named(n)) || self.without.iter().any(|n| named(n)) {
                continue;
            }
            // A value from `-A`, `-e`, `-b`, or `-r` can contain a line end, like one from `-H`.
            match header::check(name, &value) {
                Ok(()) => all.push((name.to_owned(), value)),
                Err(problem) => self.complain_of("", problem),
            }
        }
        all
    }
}

/// Removes `.` and `..` segments from a path (RFC 3986 section 5.2.4), as curl does. The query stays.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut out: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (i, segment) in segments.iter().enumerate() {
        let last = i + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    out.pop();
                }
                if last {
                    out.push("");
                }
            }
            plain => out.push(plain),
        }
    }
    format!("/{}{query}", out.join("/"))
}
