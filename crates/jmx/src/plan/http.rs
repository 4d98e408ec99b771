//! HTTP samplers, merged with the HTTP Request Defaults in scope.

use crate::text::{Pos, Text};

/// An HTTP request. Numbers are texts: one that is not a number counts as 0, as in JMeter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Http {
    /// Empty: `http`.
    pub protocol: Text,
    pub domain: Text,
    /// Empty or 0: that of the protocol.
    pub port: Text,
    pub method: Text,
    /// May be a whole URL, which replaces protocol, domain, and port.
    pub path: Text,
    /// Encoding of the body and the arguments; empty: UTF-8.
    pub content_encoding: Text,
    /// Whether the values of all arguments, one after another, are the body.
    pub has_raw_body: bool,
    /// Those of the sampler, then those of the defaults.
    pub arguments: Vec<Argument>,
    pub files: Vec<FilePart>,
    pub is_multipart: bool,
    /// Whether the parts of a multipart body have no `Content-Type` and `Content-Transfer-Encoding` for texts.
    pub is_browser_compatible: bool,
    /// Follows redirects, each as a sub-sample.
    pub follows_redirects: bool,
    /// Follows redirects without sub-samples. `follows_redirects` has priority.
    pub redirects_automatically: bool,
    pub keeps_alive: bool,
    /// In ms; empty or 0: none.
    pub connect_timeout_ms: Text,
    pub response_timeout_ms: Text,
    /// Downloads what an HTML page embeds.
    pub resources: Option<Resources>,
    /// Whether the response's MD5 replaces its body.
    pub stores_md5: bool,
    /// The URL of its proxy.
    pub proxy: Option<Proxy>,
}

/// The proxy of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    pub url: String,
    pub pos: Pos,
    /// The path of the sampler in the tree.
    pub path: String,
}

/// The download of embedded resources.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resources {
    /// A regular expression that a URL must match; empty: all.
    pub must_match: Text,
    /// A regular expression of URLs to skip; empty: none.
    pub must_not_match: Text,
    /// The number of concurrent downloads; `None`: one after another.
    pub concurrent: Option<Text>,
}

/// Whether the value of an argument is URL-encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Encode it.
    Always,
    /// It is encoded already.
    #[default]
    AsWritten,
}

/// An argument of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Argument {
    /// Empty: only the value is sent.
    pub name: Text,
    pub value: Text,
    pub encoding: Encoding,
    /// Whether `=` is sent if the value is empty.
    pub has_equals: bool,
    /// Of a part of a multipart body; empty: `text/plain`.
    pub content_type: Text,
}

/// A file to send.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FilePart {
    pub path: Text,
    /// The name of the part. One file without it, and without arguments, is the body.
    pub parameter: Text,
    pub media_type: Text,
}
