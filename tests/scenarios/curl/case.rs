//! A request that is described once, and its two forms: words of a curl line, and an experiment file.

use super::compare::TAG;
use serde_json::{Value, json};
use std::fmt::{self, Display};

/// A request. Fields that a case does not set are those of [`GET`].
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub method: &'static str,
    /// Path and query as they are in a URL; names of the query that are keys of the ruler command its response.
    pub path: &'static str,
    /// Pairs that the tool encodes and appends to the URL.
    pub query: &'static [(&'static str, &'static str)],
    pub headers: &'static [(&'static str, &'static str)],
    pub cookies: &'static str,
    /// Whether cookies of responses are kept.
    pub has_jar: bool,
    pub body: Body,
    pub auth: Auth,
    pub follows: bool,
    /// Whether the body waits for `100 Continue`.
    pub asks_first: bool,
    /// Whether the response is decoded.
    pub decodes: bool,
    pub way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    Text(&'static str),
    /// A text in chunks.
    Chunked(&'static str),
    Json(&'static str),
    /// The content of one of [`FILES`].
    File(&'static str),
    Form(&'static [(&'static str, &'static str)]),
    /// Names and parts.
    Parts(&'static [(&'static str, Part)]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Text(&'static str),
    /// One of [`FILES`], and its media type.
    File(&'static str, &'static str),
    /// The same with another name for the server.
    Named(&'static str, &'static str, &'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    None,
    Basic(&'static str, &'static str),
    Bearer(&'static str),
    Digest(&'static str, &'static str),
    /// In the URL, percent-encoded.
    Url(&'static str),
}

/// How the server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Http11,
    Http10,
    /// With prior knowledge.
    Http2,
    /// Over TLS, by ALPN.
    Http2Tls,
    Ipv6,
    UnixSocket,
    Proxy,
    /// With user name and password.
    ProxyLogin,
    /// HTTP/2 in a tunnel of an HTTP proxy.
    ProxyHttp2,
    /// The connection to the proxy is TLS.
    ProxyTls,
    Socks5,
    /// The proxy resolves the name.
    Socks5Name,
    /// With user name and password.
    Socks5Login,
    /// A name without DNS.
    Resolve,
    /// From 127.0.0.2.
    Source,
}

/// A plain request, from which cases are made.
pub const GET: Case = Case {
    name: "",
    method: "GET",
    path: "/there",
    query: &[],
    headers: &[],
    cookies: "",
    has_jar: false,
    body: Body::None,
    auth: Auth::None,
    follows: false,
    asks_first: false,
    decodes: false,
    way: Way::Http11,
};

/// The same with a small body.
pub const POST: Case =
    Case { method: "POST", headers: &[("Content-Type", "text/plain")], body: Body::Text("one=1&two"), ..GET };

/// The name of a file, and what makes its content.
type Content = (&'static str, fn() -> Vec<u8>);

/// The files that bodies are made of, by name.
pub const FILES: [Content; 5] = [
    ("note.txt", || b"first line\nsecond line\n".to_vec()),
    ("bytes.bin", || (0..=255).collect()),
    ("large.txt", || b"0123456789abcde\n".repeat(6_400)),
    // From this size on, curl asks the server before it sends a body.
    ("huge.txt", || b"0123456789abcde\n".repeat((1 << 16) + 1)),
    ("empty.txt", Vec::new),
];

/// The addresses of the servers that a case is sent to. Each tool has its own relays, so that their logs are apart.
#[derive(Debug, Clone)]
pub struct Ways {
    pub server: String,
    pub server_port: u16,
    pub secure: String,
    pub ca: String,
    pub ipv6: String,
    pub unix_socket: String,
    pub proxy: String,
    pub proxy_login: String,
    pub proxy_tls: String,
    pub socks: String,
    pub socks_login: String,
    /// The folder of [`FILES`].
    pub folder: String,
}

/// The login of the proxies.
pub const LOGIN: (&str, &str) = ("me", "p:ss");
/// The same in a URL.
const LOGIN_ENCODED: &str = "me:p%3Ass";

impl Case {
    /// Scheme, login, host, and port.
    fn origin(&self, ways: &Ways) -> String {
        let (scheme, authority) = match self.way {
            Way::Http2Tls => ("https", ways.secure.clone()),
            Way::Ipv6 => ("http", ways.ipv6.clone()),
            Way::UnixSocket => ("http", "shop.invalid".to_owned()),
            // The relays pass on everything to the server, so the port need not exist.
            Way::Proxy | Way::ProxyLogin | Way::ProxyHttp2 | Way::ProxyTls | Way::Socks5Name => {
                ("http", "localhost:81".to_owned())
            }
            Way::Resolve => ("http", format!("shop.test:{}", ways.server_port)),
            _ => ("http", ways.server.clone()),
        };
        match self.auth {
            Auth::Url(login) => format!("{scheme}://{login}@{authority}"),
            _ => format!("{scheme}://{authority}"),
        }
    }

    /// The words of a curl line, without those that only shape its output. `tag` is the value of the header that
    /// distinguishes requests of cases and tools.
    pub fn curl(&self, ways: &Ways, tag: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |all: &[&str]| words.extend(all.iter().map(|word| (*word).to_owned()));
        add(&["-g", &format!("{}{}", self.origin(ways), self.path), "-H", &format!("{TAG}: {tag}")]);
        let implied = match self.body {
            Body::None => "GET",
            _ => "POST",
        };
        match self.method {
            "HEAD" => add(&["-I"]),
            method if method == implied => {}
            method => add(&["-X", method]),
        }
        for (name, value) in self.headers {
            match value.is_empty() {
                true => add(&["-H", &format!("{name};")]),
                false => add(&["-H", &format!("{name}: {value}")]),
            }
        }
        if !self.query.is_empty() {
            add(&["-G"]);
        }
        for (name, value) in self.query {
            add(&["--data-urlencode", &format!("{name}={value}")]);
        }
        let file = |name: &str| format!("{}/{name}", ways.folder);
        match self.body {
            Body::None => {}
            Body::Text(text) => add(&["--data-raw", text]),
            Body::Chunked(text) => add(&["-H", "Transfer-Encoding: chunked", "--data-raw", text]),
            Body::Json(text) => add(&["--json", text]),
            Body::File(name) => add(&["--data-binary", &format!("@{}", file(name))]),
            Body::Form(pairs) => {
                for (name, value) in pairs {
                    add(&["--data-urlencode", &format!("{name}={value}")]);
                }
            }
            Body::Parts(parts) => {
                for (name, part) in parts {
                    match part {
                        Part::Text(text) => add(&["--form-string", &format!("{name}={text}")]),
                        Part::File(of, kind) => add(&["-F", &format!("{name}=@{};type={kind}", file(of))]),
                        Part::Named(of, kind, named) => {
                            let named = named.replace('\\', "\\\\").replace('"', "\\\"");
                            let part = format!("{name}=@{};type={kind};filename=\"{named}\"", file(of));
                            add(&["-F", &part]);
                        }
                    }
                }
            }
        }
        match self.auth {
            Auth::None | Auth::Url(_) => {}
            Auth::Basic(user, password) => add(&["-u", &format!("{user}:{password}")]),
            Auth::Bearer(token) => add(&["--oauth2-bearer", token]),
            Auth::Digest(user, password) => add(&["--digest", "-u", &format!("{user}:{password}")]),
        }
        if !self.cookies.is_empty() {
            add(&["-b", self.cookies]);
        }
        if self.has_jar {
            add(&["-b", ""]);
        }
        if self.follows {
            add(&["-L"]);
        }
        if self.asks_first {
            add(&["-H", "Expect: 100-continue"]);
        }
        if self.decodes {
            add(&["--compressed"]);
        }
        let login = |url: &str| url.replace("://", &format!("://{LOGIN_ENCODED}@"));
        match self.way {
            Way::Http11 | Way::Ipv6 => add(&["--http1.1"]),
            Way::Http10 => add(&["-0"]),
            Way::Http2 => add(&["--http2-prior-knowledge"]),
            Way::Http2Tls => add(&["--http2", "--cacert", &ways.ca]),
            Way::UnixSocket => add(&["--unix-socket", &ways.unix_socket]),
            Way::Proxy => add(&["-x", &ways.proxy]),
            Way::ProxyLogin => add(&["-x", &login(&ways.proxy_login)]),
            Way::ProxyHttp2 => add(&["-x", &ways.proxy, "-p", "--http2-prior-knowledge"]),
            Way::ProxyTls => add(&["-x", &ways.proxy_tls, "--proxy-cacert", &ways.ca]),
            Way::Socks5 => add(&["-x", &ways.socks.replace("socks5h", "socks5")]),
            Way::Socks5Name => add(&["-x", &ways.socks]),
            Way::Socks5Login => add(&["-x", &login(&ways.socks_login)]),
            Way::Resolve => add(&["--resolve", &format!("shop.test:{}:127.0.0.1", ways.server_port)]),
            Way::Source => add(&["--interface", "127.0.0.2"]),
        }
        words
    }

    /// The experiment file, which also checks that the body of the response is `expected`. JSON is YAML.
    pub fn experiment(&self, ways: &Ways, tag: &str, expected: Option<&str>) -> String {
        let mut step = Object::default();
        match self.method {
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" => {
                step.set(&self.method.to_lowercase(), json!(self.path));
            }
            method => step.set("request", json!({ "method": method, "path": self.path })),
        }
        let mut headers: Vec<(&str, &str)> = self.headers.to_vec();
        if !self.cookies.is_empty() {
            headers.push(("Cookie", self.cookies));
        }
        headers.push((TAG, tag));
        step.set("headers", mapping(&headers));
        if !self.query.is_empty() {
            step.set("query", mapping(self.query));
        }
        let file = |name: &str| json!(format!("{}/{name}", ways.folder));
        match self.body {
            Body::None => {}
            Body::Text(text) => step.set("body", json!(text)),
            Body::Chunked(text) => {
                step.set("chunked", json!(true));
                step.set("body", json!(text));
            }
            Body::Json(text) => step.set("json", text),
            Body::File(name) => step.set("body_file", file(name)),
            Body::Form(pairs) => step.set("form", mapping(pairs)),
            Body::Parts(parts) => {
                let mut all = Object::default();
                for (name, part) in parts {
                    let part = match part {
                        Part::Text(text) => json!(text),
                        Part::File(of, kind) => json!({ "path": file(of), "type": kind }),
                        Part::Named(of, kind, named) => {
                            json!({ "path": file(of), "type": kind, "name": named })
                        }
                    };
                    all.set(name, part);
                }
                step.set("multipart", all);
            }
        }
        match self.auth {
            Auth::None | Auth::Url(_) => {}
            Auth::Basic(user, password) => {
                step.set("auth", json!({ "basic": { "user": user, "password": password } }));
            }
            Auth::Bearer(token) => step.set("auth", json!({ "bearer": token })),
            Auth::Digest(user, password) => {
                step.set("auth", json!({ "digest": { "user": user, "password": password } }));
            }
        }
        if self.follows {
            step.set("redirects", json!(10));
        }
        if self.asks_first {
            step.set("expect_continue", json!(true));
        }
        if let Some(expected) = expected {
            step.set("check", json!({ "name": "response", "body": { "equals": expected } }));
        }
        let mut whole = Object::default();
        whole.set("target", json!(self.origin(ways)));
        whole.set("scenarios", format!("{{\"one\":[{step}]}}"));
        whole.set("load", json!({ "users": 1, "iterations": 1 }));
        whole.set("connection", self.connection(ways));
        if self.has_jar {
            whole.set("cookies", json!(true));
        }
        if matches!(self.way, Way::Http2Tls | Way::ProxyTls) {
            whole.set("tls", json!({ "ca": ways.ca }));
        }
        whole.to_string()
    }

    fn connection(&self, ways: &Ways) -> Value {
        let login = |url: &str| url.replace("://", &format!("://{LOGIN_ENCODED}@"));
        match self.way {
            Way::Http11 | Way::Ipv6 => json!({ "http": "1.1" }),
            Way::Http10 => json!({ "http": "1.0" }),
            Way::Http2 => json!({ "http": "2" }),
            Way::Http2Tls => json!({ "http": "auto" }),
            Way::UnixSocket => json!({ "unix_socket": ways.unix_socket }),
            Way::Proxy => json!({ "proxy": ways.proxy }),
            Way::ProxyLogin => json!({ "proxy": login(&ways.proxy_login) }),
            Way::ProxyHttp2 => json!({ "proxy": ways.proxy, "http": "2" }),
            Way::ProxyTls => json!({ "proxy": ways.proxy_tls }),
            Way::Socks5 => json!({ "proxy": ways.socks.replace("socks5h", "socks5") }),
            Way::Socks5Name => json!({ "proxy": ways.socks }),
            Way::Socks5Login => json!({ "proxy": login(&ways.socks_login) }),
            Way::Resolve => json!({ "resolve": { "shop.test": "127.0.0.1" } }),
            Way::Source => json!({ "source_addresses": ["127.0.0.2"] }),
        }
    }
}

/// An object in JSON with the order in which its values were set.
#[derive(Debug, Default)]
struct Object(Vec<(String, String)>);

impl Object {
    fn set(&mut self, key: &str, value: impl Display) {
        self.0.push((key.to_owned(), value.to_string()));
    }
}

impl Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> =
            self.0.iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect();
        write!(f, "{{{}}}", pairs.join(","))
    }
}

/// Pairs as a mapping; several values of a name are a list.
fn mapping(pairs: &[(&str, &str)]) -> Object {
    let mut all = Object::default();
    for (name, _) in pairs {
        if all.0.iter().any(|(known, _)| known == name) {
            continue;
        }
        let values: Vec<&str> =
            pairs.iter().filter(|(other, _)| other == name).map(|(_, value)| *value).collect();
        match values.as_slice() {
            [one] => all.set(name, json!(one)),
            several => all.set(name, json!(several)),
        }
    }
    all
}
