//! From what the options said to the one request.

use super::{Line, form};
use crate::build::requests;
use crate::header;
use plimsoll_plan::Draft;
use plimsoll_plan::request::{Url, url};

impl Line {
    /// Puts the request together. Mistakes are in `wrong`; the draft counts only when there are none.
    pub(super) fn finish(&mut self) -> Draft {
        let mut draft = Draft { timeout_ns: self.timeout_ns, ..Draft::default() };
        if let Some(ns) = self.connect_timeout_ns {
            draft.limits.connect_timeout_ns = ns;
        }
        if !self.form.is_empty() && self.data.bytes.is_some() {
            self.complain("-F", "`-F` and `-d` give two bodies", "keep one of them");
        }
        if !self.form.is_empty() && (self.get || self.head) {
            self.complain("-F", "a form is the body of a POST", "leave out `-G` and `-I`");
        }
        if self.follows {
            // curl's own limit, where none is given.
            draft.redirects = Some(self.redirects_max.unwrap_or(50));
            if self.referer_auto {
                let message = "`;auto` sets a `Referer` on each redirect, which is not supported";
                self.complain("-e", message, "leave out `;auto`");
            }
        }
        if self.head && self.data.bytes.is_some() && !self.get {
            self.complain("-I", "`-I` asks for a head, and data asks for a POST", "keep one, or add `-G`");
        }
        let text = match self.urls.as_slice() {
            [one] => one.clone(),
            [] => {
                self.complain("", "there is no URL", "add one, such as `http://127.0.0.1:8080/`");
                return draft;
            }
            [_, second, ..] => {
                let message = format!("`{second}` is a second URL");
                self.complain(
                    "",
                    message,
                    "load one at a time; options with a value in several words need quotes",
                );
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
        if let Err(problem) = header::check_length(&headers, body.as_deref()) {
            self.complain_of("-H", problem);
        }
        if self.files.certificate.is_some() != self.files.key.is_some() {
            self.complain("--key", "a certificate needs its key", "give both `--cert` and `--key`");
        }
        draft.link = std::mem::take(&mut self.link);
        if !url.target.tls {
            // curl takes options of TLS with any URL; without TLS they say nothing.
            draft.link.tls = None;
        }
        draft.tls_files = std::mem::take(&mut self.files);
        // What its credentials imply is among the headers, or was taken away there.
        let url = Url { path, credentials: None, ..url };
        let (target, request) = requests::request(method, url, headers, body);
        draft.target = Some(target);
        draft.requests.push(request);
        draft
    }

    /// The URL with the data of `-G` in its query; patterns that stand for several URLs are refused.
    fn url_text(&mut self, mut text: String) -> String {
        // A `://` further behind belongs to a query: `h/go?to=http://i`.
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
                "curl would take the brackets in this URL for a pattern of several URLs",
                "add `-g` if they belong to the URL",
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
                self.complain("-G", "the data is no text and cannot stand in a URL", "use `--data-urlencode`")
            }
        }
        text
    }

    /// Adds the boundary to a `Content-Type: multipart/...` that was given without one, as curl does.
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

    /// Headers from `-H` in the order given, then those that options imply, unless `-H` replaced or removed them.
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
            // A value from `-A`, `-e`, `-b` or `-r` can hold a line end just like one from `-H`.
            match header::check(name, &value) {
                Ok(()) => all.push((name.to_owned(), value)),
                Err(problem) => self.complain_of("", problem),
            }
        }
        all
    }
}

/// The path without `.` and `..` segments (RFC 3986 section 5.2.4), as curl sends it; the query stays.
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
