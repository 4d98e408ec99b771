//! Reads a curl command line, which browsers copy and documentation shows, as a request.
//!
//! plimsoll sends the request that curl would send (except for the `User-Agent`), or rejects the line. An option that
//! does not affect the request is accepted, with the reason in the table. No option is ignored.

mod assemble;
mod data;
mod form;
mod options;
mod words;

use data::Collected;
use options::{Does, Row};
use plimsoll_build::body::from_file;
use plimsoll_build::requests;
use plimsoll_build::{header, nearest::nearest};
use plimsoll_plan::Problem;
use plimsoll_plan::cipher;
use plimsoll_plan::diag::Place;
use plimsoll_plan::link::{Link, Tls, TlsFiles, Versions};
use plimsoll_plan::route::{self, Login, ProxyProtocol, ProxyProtocolVersion};
use plimsoll_plan::value::Secret;
use std::net::IpAddr;

use plimsoll_plan::{Diagnostic, Draft};
use std::path::Path;

/// Reads the words after `plimsoll curl`, or one word with the whole pasted line, including its quotes. A leading word
/// `curl` is dropped.
///
/// # Errors
/// Returns every mistake found.
pub fn parse(args: &[String]) -> Result<Draft, Vec<Diagnostic>> {
    let args = match args {
        [line] if line.trim().contains(char::is_whitespace) => words::split(line)
            .map_err(|(message, hint)| vec![Diagnostic::new("C001", Place::Whole, message, hint)])?,
        _ => args.to_vec(),
    };
    let args = match args.as_slice() {
        [first, rest @ ..] if first == "curl" || first.ends_with("/curl") && !first.contains("://") => rest,
        all => all,
    };
    let mut line = Line::default();
    line.read(args);
    let draft = line.finish();
    if line.wrong.is_empty() { Ok(draft) } else { Err(line.wrong) }
}

/// Builds the body of `-F` parts, in curl's format; returns its media type and its bytes.
///
/// # Errors
/// Returns an error if a part is invalid, or its file cannot be read.
pub(crate) fn multipart(parts: &[String]) -> Result<(String, Vec<u8>), Problem> {
    let fields = parts.iter().map(|part| form::read(part, false)).collect::<Result<Vec<_>, _>>()?;
    let (boundary, body) = form::body(&fields);
    Ok((format!("multipart/form-data; boundary={boundary}"), body))
}

/// The values of the options, before they are combined.
#[derive(Default)]
struct Line {
    wrong: Vec<Diagnostic>,
    urls: Vec<String>,
    method: Option<String>,
    /// Headers from `-H`.
    headers: Vec<(String, String)>,
    /// Headers that `-H 'Name:'` removes.
    without: Vec<String>,
    /// Headers that other options imply; a header from `-H` replaces them.
    implied: Vec<(&'static str, String)>,
    cookies: Vec<String>,
    data: Collected,
    /// Parts of a multipart body.
    form: Vec<form::Field>,
    follows: bool,
    /// `--max-redirs`
    redirects_max: Option<u8>,
    /// `-e ';auto'`
    referer_auto: bool,
    get: bool,
    head: bool,
    glob_off: bool,
    path_as_is: bool,
    timeout_ns: Option<u64>,
    connect_timeout_ns: Option<u64>,
    link: Link,
    /// `-U`
    proxy_login: Option<Login>,
    files: TlsFiles,
    certificate: Option<Vec<u8>>,
    key: Option<Vec<u8>>,
    lowest_tls13: bool,
    highest_tls12: bool,
    tls12_ciphers: Vec<String>,
    tls13_ciphers: Vec<String>,
}

/// Returns whether a cipher suite belongs to TLS 1.3, or to 1.2.
fn is_of(name: &str, is_tls13: bool) -> bool {
    cipher::cipher(name).is_some_and(|cipher| cipher.is_tls13 == is_tls13)
}

impl Line {
    fn complain(&mut self, option: &str, message: impl Into<String>, hint: impl Into<String>) {
        let place = if option.is_empty() { Place::Whole } else { Place::Flag(option.to_owned()) };
        self.wrong.push(Diagnostic::new("C002", place, message, hint));
    }

    fn complain_of(&mut self, option: &str, problem: Problem) {
        self.complain(option, problem.message, problem.hint);
    }

    fn read(&mut self, args: &[String]) {
        let mut args = args.iter();
        let mut only_urls = false;
        while let Some(word) = args.next() {
            if only_urls || word == "-" || !word.starts_with('-') {
                self.urls.push(word.clone());
            } else if word == "--" {
                only_urls = true;
            } else if let Some(name) = word.strip_prefix("--") {
                self.long(name, &mut args);
            } else {
                self.cluster(&word[1..], &mut args);
            }
        }
    }

    /// `--name value` or `--name=value`.
    fn long<'a>(&mut self, name: &str, args: &mut impl Iterator<Item = &'a String>) {
        let (name, inline) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        let shown = format!("--{name}");
        match (options::long(name), inline) {
            (None, _) => {
                let hint = match nearest(name, options::TABLE.iter().map(|row| row.long)) {
                    Some(right) => format!("did you mean `--{right}`?"),
                    None => "remove it if it does not change the request".to_owned(),
                };
                self.complain(&shown, format!("unsupported option `{shown}`"), hint);
            }
            (Some(row), Some(_)) if !row.value => {
                self.complain(
                    &shown,
                    format!("`{shown}` takes no value"),
                    format!("write `{shown}` without `=` and a value"),
                );
            }
            (Some(row), Some(value)) => self.apply(row, &shown, value),
            (Some(row), None) => self.with_next(row, &shown, args),
        }
    }

    /// Reads a cluster such as `-sSd text`: several letters, of which the last may take the rest of the word or the
    /// next word as its value.
    fn cluster<'a>(&mut self, letters: &str, args: &mut impl Iterator<Item = &'a String>) {
        for (at, letter) in letters.char_indices() {
            let shown = format!("-{letter}");
            let Some(row) = options::short(letter) else {
                self.complain(
                    &shown,
                    format!("unsupported option `{shown}`"),
                    "remove it if it does not change the request",
                );
                return;
            };
            let rest = &letters[at + letter.len_utf8()..];
            if row.value && !rest.is_empty() {
                return self.apply(row, &shown, rest);
            }
            self.with_next(row, &shown, args);
        }
    }

    fn with_next<'a>(&mut self, row: &Row, shown: &str, args: &mut impl Iterator<Item = &'a String>) {
        if !row.value {
            return self.apply(row, shown, "");
        }
        match args.next() {
            Some(value) => self.apply(row, shown, value),
            None => self.complain(shown, format!("missing value of `{shown}`"), "paste the whole line"),
        }
    }

    fn apply(&mut self, row: &Row, shown: &str, value: &str) {
        match row.does {
            Does::Method => self.method = Some(value.to_owned()),
            Does::Header => self.header(shown, value),
            Does::Data(kind) => {
                if let Err(problem) = self.data.add(kind, value) {
                    self.complain_of(shown, problem);
                }
            }
            Does::User if !value.contains(':') => self.complain(
                shown,
                "missing password: curl would ask for it",
                "write `-u name:password`, or `-u name:` for an empty one",
            ),
            Does::User => self.imply("Authorization", requests::basic(value)),
            Does::Bearer => self.imply("Authorization", format!("Bearer {value}")),
            Does::Agent if value.is_empty() => self.cannot_remove(shown, "User-Agent"),
            Does::Agent => self.imply("User-Agent", value.to_owned()),
            Does::Referer => {
                self.referer_auto |= value.ends_with(";auto");
                let value = value.strip_suffix(";auto").unwrap_or(value);
                if !value.is_empty() {
                    self.imply("Referer", value.to_owned());
                }
            }
            Does::Cookie if !value.contains('=') => self.complain(
                shown,
                "cookie files are not supported: a cookie without `=` names a file",
                "write the cookies directly: `-b 'name=value; other=value'`",
            ),
            Does::Cookie => self.cookies.push(value.to_owned()),
            Does::Range => self.imply("Range", format!("bytes={value}")),
            Does::Url => self.urls.push(value.to_owned()),
            Does::Get => self.get = true,
            Does::Head => self.head = true,
            Does::Compressed => self.imply("Accept-Encoding", "deflate, gzip".to_owned()),
            Does::MaxTime => self.timeout_ns = self.seconds(shown, value),
            Does::ConnectTimeout => self.connect_timeout_ns = self.seconds(shown, value),
            Does::GlobOff => self.glob_off = true,
            Does::PathAsIs => self.path_as_is = true,
            Does::Insecure => self.tls().insecure = true,
            Does::Tls13 => self.lowest_tls13 = true,
            Does::TlsMax => match value {
                "1.2" => self.highest_tls12 = true,
                "1.3" | "default" => self.highest_tls12 = false,
                other => {
                    let message = format!("TLS {other} is not supported as the highest version");
                    self.complain(shown, message, "write `1.2` or `1.3`");
                }
            },
            Does::Ciphers => self.ciphers(shown, value, false),
            Does::Tls13Ciphers => self.ciphers(shown, value, true),
            Does::Location => self.follows = true,
            Does::MaxRedirects => match value.parse::<u8>() {
                Ok(n) if n <= 100 => self.redirects_max = Some(n),
                _ => {
                    let message = format!("invalid number of redirects `{value}`");
                    self.complain(shown, message, "write a whole number up to 100");
                }
            },
            Does::Form | Does::FormString => match form::read(value, row.does == Does::FormString) {
                Ok(field) => self.form.push(field),
                Err(problem) => self.complain_of(shown, problem),
            },
            Does::Http(version) => self.link.http = version,
            Does::Authority | Does::Certificate | Does::Key => self.pem(row.does, shown, value),
            Does::Resolve => self.resolve(shown, value),
            Does::Proxy(scheme) => self.proxy(shown, scheme, value),
            Does::ProxyUser => {
                let (user, password) = value.split_once(':').unwrap_or((value, ""));
                self.proxy_login = Some(Login { user: Secret::new(user), password: Secret::new(password) });
            }
            Does::UnixSocket => match route::unix_socket(value) {
                Ok(path) => self.link.route.unix_socket = Some(path),
                Err(problem) => self.complain_of(shown, problem),
            },
            Does::Interface => self.interface(shown, value),
            Does::ProxyHeader => {
                let header =
                    ProxyProtocol { version: ProxyProtocolVersion::V1, source_addresses: Vec::new() };
                self.link.route.proxy_protocol = Some(header);
            }
            Does::Nothing(_) => {}
            Does::Refused(why, hint) => self.complain(shown, why, hint),
        }
    }

    fn tls(&mut self) -> &mut Tls {
        self.link.tls.get_or_insert_default()
    }

    fn ciphers(&mut self, shown: &str, value: &str, is_tls13: bool) {
        match cipher::ciphers(value) {
            Err(problem) => self.complain_of(shown, problem),
            Ok(names) => match names.iter().find(|name| is_of(name, !is_tls13)) {
                Some(stray) => {
                    let other = if is_tls13 { "--ciphers" } else { "--tls13-ciphers" };
                    let message = format!("cipher suite `{stray}` belongs to another version of TLS");
                    self.complain(shown, message, format!("write it after `{other}`"));
                }
                None if is_tls13 => self.tls13_ciphers = names,
                None => self.tls12_ciphers = names,
            },
        }
    }

    /// Sets versions and cipher suites as curl's options do together.
    fn settle_tls(&mut self) {
        let versions = match (self.lowest_tls13, self.highest_tls12) {
            (false, false) => Versions::Both,
            (true, false) => Versions::Tls13,
            (false, true) => Versions::Tls12,
            (true, true) => {
                let message = "`--tlsv1.3` and `--tls-max 1.2` leave no version of TLS";
                return self.complain("--tls-max", message, "remove one of them");
            }
        };
        let is_named = !self.tls12_ciphers.is_empty() || !self.tls13_ciphers.is_empty();
        if versions == Versions::Both && !is_named {
            return;
        }
        let (mut tls13, mut tls12) =
            (std::mem::take(&mut self.tls13_ciphers), std::mem::take(&mut self.tls12_ciphers));
        for (is_tls13, named, is_offered) in [
            (true, &mut tls13, versions != Versions::Tls12),
            (false, &mut tls12, versions != Versions::Tls13),
        ] {
            match is_offered {
                true if named.is_empty() => {
                    let all = cipher::CIPHERS.iter().filter(|one| one.is_tls13 == is_tls13);
                    named.extend(all.map(|one| one.name.to_owned()));
                }
                true => {}
                // curl ignores them, too.
                false => named.clear(),
            }
        }
        let tls = self.tls();
        tls.versions = versions;
        if is_named {
            tls.ciphers = [tls13, tls12].concat();
        }
    }

    fn pem(&mut self, does: Does, shown: &str, name: &str) {
        // curl reads the text after the colon as the password of the key.
        if does == Does::Certificate && name.contains(':') {
            let hint = "decrypt the key with `openssl pkey -in KEY -out PLAIN_KEY`, and name the result";
            return self.complain(shown, "keys with a password are not supported", hint);
        }
        self.tls();
        match (from_file(Path::new(name)), does) {
            (Ok(bytes), Does::Authority) => self.files.ca.push(bytes),
            (Ok(bytes), Does::Certificate) => self.certificate = Some(bytes),
            (Ok(bytes), _) => self.key = Some(bytes),
            (Err(problem), _) => self.complain_of(shown, problem),
        }
    }

    /// Reads a proxy. Without a port, curl uses 1080 for every kind.
    fn proxy(&mut self, shown: &str, scheme: &str, value: &str) {
        let value = match value.contains("://") {
            true => value.to_owned(),
            false => format!("{scheme}://{value}"),
        };
        let read = match route::proxy(&value) {
            Err(problem) if problem.message.starts_with("missing port") => {
                route::proxy(&format!("{}:1080", value.trim_end_matches('/')))
            }
            read => read,
        };
        match read {
            Ok(proxy) => self.link.route.proxy = Some(proxy),
            Err(problem) => self.complain_of(shown, problem),
        }
    }

    /// Reads the name of a network interface, or a local address.
    fn interface(&mut self, shown: &str, value: &str) {
        let name = value.strip_prefix("if!").unwrap_or(value);
        match (name.strip_prefix("host!").unwrap_or(name).parse::<IpAddr>(), route::interface(name)) {
            (Ok(address), _) => self.link.source_addresses = vec![address],
            (Err(_), Ok(name)) => self.link.route.interface = Some(name),
            (Err(_), Err(problem)) => self.complain_of(shown, problem),
        }
    }

    fn resolve(&mut self, shown: &str, value: &str) {
        let parts: Vec<&str> = value.splitn(3, ':').collect();
        let address = parts.get(2).and_then(|text| text.trim_matches(['[', ']']).parse().ok());
        match (parts.first(), address) {
            (Some(host), Some(address)) if !host.is_empty() => {
                self.link.resolve.push((host.to_ascii_lowercase(), address));
            }
            _ => {
                let message = format!("invalid `--resolve` value `{value}`: expected `host:port:address`");
                self.complain(
                    shown,
                    message,
                    "write one address, such as `example.com:443:127.0.0.1`, or use `-H 'Host: name'`",
                );
            }
        }
    }

    /// The last option that implies a header wins.
    fn imply(&mut self, name: &'static str, value: String) {
        self.implied.retain(|(n, _)| *n != name);
        self.implied.push((name, value));
    }

    /// Reads `Name: value`. `Name;` sends the header empty, and `Name:` removes a default header of curl.
    fn header(&mut self, shown: &str, text: &str) {
        if let Some(name) = text.strip_prefix('@') {
            let message = format!("headers from a file are not supported (`{name}`)");
            return self.complain(shown, message, "write each header with `-H 'Name: value'`");
        }
        let (name, value) = match (text.split_once(':'), text.strip_suffix(';')) {
            (Some((name, value)), _) if value.trim().is_empty() => return self.without(shown, name.trim()),
            (Some((name, value)), _) => (name, value.trim()),
            (None, Some(name)) => (name, ""),
            (None, None) => {
                return self.complain(shown, "missing colon in a header", "write `-H 'Name: value'`");
            }
        };
        match header::check(name, value) {
            Ok(()) => self.headers.push((name.to_owned(), value.to_owned())),
            Err(problem) => self.complain_of(shown, problem),
        }
    }

    fn without(&mut self, shown: &str, name: &str) {
        const ALWAYS: &[&str] = &["Host", "User-Agent", "Accept", "Content-Length"];
        match ALWAYS.iter().find(|always| always.eq_ignore_ascii_case(name)) {
            Some(always) => self.cannot_remove(shown, always),
            None => self.without.push(name.to_owned()),
        }
    }

    fn cannot_remove(&mut self, shown: &str, name: &str) {
        let message = format!("header `{name}` cannot be removed");
        self.complain(shown, message, "write a value, or remove the option");
    }

    /// Reads a duration in seconds, possibly with decimals. In curl, 0 means no limit.
    fn seconds(&mut self, shown: &str, value: &str) -> Option<u64> {
        match value.parse::<f64>() {
            Ok(s) if s > 0.0 && s <= 31_622_400.0 => Some((s * 1e9).round() as u64),
            _ => {
                let message = format!("invalid duration `{value}`: expected seconds above 0");
                self.complain(shown, message, "write a number such as `2.5`");
                None
            }
        }
    }
}
