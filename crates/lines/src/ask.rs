//! The request and the connection of a command line, while its flags are read; and the values of flags that several
//! tools have.

use crate::flags::Mistakes;
use plimsoll_build::body::from_file;
use plimsoll_build::{header, requests};
use plimsoll_plan::link::{ClientFiles, Link, Tls, TlsFiles};
use plimsoll_plan::request::{Url, url};
use plimsoll_plan::route::{self, Login};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::value::Secret;
use plimsoll_plan::{Draft, Problem};
use std::path::Path;

/// Redirects that a request follows by default, as in the HTTP clients of Go.
pub const GO_REDIRECTS: u8 = 10;

/// The note about a content type that ab and loadtest ignore.
pub const NO_BODY: &str = "`-T` without a body has no effect";

/// What the flags say about the request and the connection.
#[derive(Default)]
pub struct Ask {
    pub method: Option<String>,
    /// In their order; a later one replaces an earlier one of the same name only if the tool does.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    pub link: Link,
    /// Settings of TLS, which apply if the URL is `https`.
    pub tls: Tls,
    pub files: TlsFiles,
    pub certificate: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
}

impl Ask {
    /// Adds a header, after others of the same name.
    pub fn add_header(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        header::check(name, value)?;
        self.headers.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Sets a header in place of others of the same name.
    pub fn set_header(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.add_header(name, value)
    }

    /// Sets a header unless there is one of this name.
    pub fn default_header(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Adds `Name: value`, the value of a flag.
    pub fn header(&mut self, text: &str) -> Result<(), Problem> {
        let (name, value) = header::parse(text)?;
        self.add_header(&name, &value)
    }

    /// Sets `Authorization` for `user:password`.
    pub fn basic(&mut self, pair: &str) -> Result<(), Problem> {
        self.set_header("Authorization", &requests::basic(pair))
    }

    pub fn body_file(&mut self, name: &str) -> Result<(), Problem> {
        self.body = Some(from_file(Path::new(name))?);
        Ok(())
    }

    pub fn authority(&mut self, name: &str) -> Result<(), Problem> {
        self.files.ca.push(from_file(Path::new(name))?);
        Ok(())
    }

    /// Sets the proxy, an HTTP proxy if the text names no scheme.
    pub fn proxy(&mut self, text: &str, default_port: u16) -> Result<(), Problem> {
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let read = match route::proxy(&text) {
            Err(problem) if problem.message.starts_with("missing port") => {
                route::proxy(&format!("{}:{default_port}", text.trim_end_matches('/')))
            }
            read => read,
        };
        self.link.route.proxy = Some(read?);
        Ok(())
    }

    /// Sets the login of the proxy, `user:password`.
    pub fn proxy_login(&mut self, pair: &str) {
        let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
        if let Some(proxy) = &mut self.link.route.proxy {
            proxy.login = Some(Login { user: Secret::new(user), password: Secret::new(password) });
            proxy.has_login = true;
        }
    }

    /// Puts the connection, and the request to `text`, into a draft.
    pub fn finish(mut self, text: &str, mut draft: Draft, wrong: &mut Mistakes) -> Draft {
        let Some(url) = wrong.taken("", url(text)) else { return draft };
        wrong.taken("", header::check_length(&self.headers, self.body.as_deref()));
        let method = self.method.take().unwrap_or_else(|| "GET".to_owned());
        let (headers, body) = (std::mem::take(&mut self.headers), self.body.take());
        let is_tls = url.target.tls;
        let (target, request) = requests::request(method, Url { ..url }, headers, body);
        draft.target = Some(target);
        draft.requests.push(request);
        self.connect(is_tls, &mut draft, wrong);
        draft
    }

    /// Puts the connection into a draft.
    pub fn connect(self, is_tls: bool, draft: &mut Draft, wrong: &mut Mistakes) {
        draft.tls_files = self.files;
        match (self.certificate, self.key) {
            (None, None) => {}
            (Some(certificate), Some(key)) => draft.tls_files.clients.push(ClientFiles { certificate, key }),
            // Both may be in one file.
            (Some(both), None) => {
                draft.tls_files.clients.push(ClientFiles { certificate: both.clone(), key: both });
            }
            (None, Some(_)) => {
                wrong.add("", Problem::new("a key requires a certificate", "name the certificate, too"));
            }
        }
        draft.link = self.link;
        // Without TLS, its settings have no effect, as in these tools.
        draft.link.tls = is_tls.then_some(self.tls);
        if !is_tls {
            draft.tls_files = TlsFiles::default();
        }
    }
}

/// Reads a whole number above 0.
pub fn positive<T: TryFrom<u64>>(text: &str, what: &str) -> Result<T, Problem> {
    let number = text.trim().parse::<u64>().ok().filter(|n| *n > 0);
    number.and_then(|n| T::try_from(n).ok()).ok_or_else(|| {
        Problem::new(format!("invalid {what} `{text}`"), "write a whole number above 0, such as `100`")
    })
}

/// Reads a number of seconds, with a fraction.
pub fn seconds_ns(text: &str, what: &str) -> Result<u64, Problem> {
    // Longer than any run, and far from the limit of a u64 of nanoseconds.
    const MAX_S: f64 = 1e9;
    match text.trim().parse::<f64>() {
        Ok(s) if (0.0..=MAX_S).contains(&s) => Ok((s * SECOND_NS as f64).round() as u64),
        _ => Err(Problem::new(format!("invalid {what} `{text}`"), "write a number of seconds, such as `30`")),
    }
}

/// Reads a rate per second.
pub fn rate_per_s(text: &str) -> Result<f64, Problem> {
    match text.trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate >= 0.0 => Ok(rate),
        _ => Err(Problem::new(format!("invalid rate `{text}`"), "write requests per second, such as `100`")),
    }
}

/// Returns the only URL among the words that are not flags.
pub fn only_url<'a>(tool: &str, others: &'a [String], wrong: &mut Mistakes) -> Option<&'a str> {
    match others {
        [one] => Some(one),
        [] => {
            let hint = format!("add one, such as `plimsoll {tool} http://127.0.0.1:8080/`");
            wrong.usage("", Problem::new("missing URL", hint));
            None
        }
        [_, second, ..] => {
            let message = format!("unexpected argument `{second}`");
            wrong.usage("", Problem::new(message, "write one URL, after all flags"));
            None
        }
    }
}
