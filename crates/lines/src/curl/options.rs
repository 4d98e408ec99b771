//! The table of curl's options, and the effect of each on the request. Other options are rejected by name.

use plimsoll_plan::link::Http;

/// The effect of an option on the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Method,
    Header,
    /// `-d` and related options.
    Data(Data),
    User,
    Bearer,
    Agent,
    Referer,
    Cookie,
    Range,
    Url,
    Get,
    Head,
    Compressed,
    /// `-m`, seconds.
    MaxTime,
    /// Seconds.
    ConnectTimeout,
    /// Braces and brackets in the URL are literal.
    GlobOff,
    /// `/./` and `/../` in the URL are sent unchanged.
    PathAsIs,
    /// The server's certificate is not verified.
    Insecure,
    /// A PEM file: certificate authorities, the client certificate, its key.
    Authority,
    Certificate,
    Key,
    Tls13,
    /// The highest version.
    TlsMax,
    /// Suites of TLS 1.2, and those of 1.3: each option leaves those of the other version as they are.
    Ciphers,
    Tls13Ciphers,
    /// `-L`, and the maximum number of redirects.
    Location,
    MaxRedirects,
    /// A part of a `multipart/form-data` body; a leading `@` or `<` names a file.
    Form,
    /// Like `Form`, but with a literal value.
    FormString,
    Http(Http),
    /// `host:port:address`
    Resolve,
    /// A proxy; the scheme of one that is written without.
    Proxy(&'static str),
    ProxyUser,
    UnixSocket,
    /// A network interface, or a local address.
    Interface,
    /// The PROXY protocol.
    ProxyHeader,
    /// Accepted, because it does not affect the request; the reason is for readers of this table.
    Nothing(&'static str),
    /// Rejected, with the message and the help line.
    Refused(&'static str, &'static str),
}

/// The five kinds of data options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// `@file` without its line ends.
    Text,
    /// `@` is literal.
    Raw,
    /// `@file` unchanged.
    Binary,
    UrlEncode,
    /// Binary, with JSON headers; pieces are not joined with `&`.
    Json,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub short: Option<char>,
    pub long: &'static str,
    /// Whether the option takes a value.
    pub value: bool,
    pub does: Does,
}

const fn with(short: char, long: &'static str, does: Does) -> Row {
    Row { short: if short == ' ' { None } else { Some(short) }, long, value: true, does }
}

const fn bare(short: char, long: &'static str, does: Does) -> Row {
    Row { short: if short == ' ' { None } else { Some(short) }, long, value: false, does }
}

const OUTPUT: Does = Does::Nothing("shapes curl's own output");
const FILES: Does = Does::Nothing("names the file for curl's response; a load test keeps no responses");
const RESULT: Does = Does::Nothing("sets curl's exit code; failed requests are always counted");
const NO_VERSION: Does =
    Does::Refused("only HTTP/2, HTTP/1.1, and HTTP/1.0 are supported", "remove the option");
const NO_PROXY: Does =
    Does::Refused("this kind of proxy is not supported", "use an HTTP or SOCKS5 proxy (`-x`)");
const NO_AUTH_HERE: Does = Does::Refused(
    "a pasted line cannot use this authentication method",
    "write an experiment file with `auth: { digest: ... }` or `auth: { aws_sigv4: ... }`",
);
const NO_AUTH: Does = Does::Refused(
    "this authentication method is not supported yet",
    "use `-u`, or send a header with `-H 'Authorization: ...'`",
);
const NO_ADDRESS: Does = Does::Refused(
    "the address cannot differ from the URL",
    "write the address in the URL, and send `-H 'Host: name'`",
);
const NO_RETRY: Does =
    Does::Refused("retries are not supported: a load test counts failed requests", "remove the option");
const NO_SEVERAL: Does = Does::Refused(
    "several requests in one curl line are not supported",
    "write an experiment file with one step for each request",
);
const NO_COOKIES: Does = Does::Refused(
    "a cookie jar is not supported in a curl line",
    "send fixed cookies with `-b 'name=value'`, or write an experiment file with `cookies: true`",
);

/// All known options.
pub const TABLE: &[Row] = &[
    with('X', "request", Does::Method),
    with('H', "header", Does::Header),
    with('d', "data", Does::Data(Data::Text)),
    with(' ', "data-ascii", Does::Data(Data::Text)),
    with(' ', "data-raw", Does::Data(Data::Raw)),
    with(' ', "data-binary", Does::Data(Data::Binary)),
    with(' ', "data-urlencode", Does::Data(Data::UrlEncode)),
    with(' ', "json", Does::Data(Data::Json)),
    with('u', "user", Does::User),
    with(' ', "oauth2-bearer", Does::Bearer),
    with('A', "user-agent", Does::Agent),
    with('e', "referer", Does::Referer),
    with('b', "cookie", Does::Cookie),
    with('r', "range", Does::Range),
    with(' ', "url", Does::Url),
    bare('G', "get", Does::Get),
    bare('I', "head", Does::Head),
    bare(' ', "compressed", Does::Compressed),
    with('m', "max-time", Does::MaxTime),
    with(' ', "connect-timeout", Does::ConnectTimeout),
    bare('g', "globoff", Does::GlobOff),
    bare(' ', "path-as-is", Does::PathAsIs),
    // Accepted: they do not affect the request.
    bare('s', "silent", OUTPUT),
    bare('S', "show-error", OUTPUT),
    bare('v', "verbose", OUTPUT),
    bare('i', "include", OUTPUT),
    bare(' ', "show-headers", OUTPUT),
    bare('#', "progress-bar", OUTPUT),
    bare(' ', "no-progress-meter", OUTPUT),
    bare('N', "no-buffer", OUTPUT),
    bare(' ', "styled-output", OUTPUT),
    bare(' ', "no-styled-output", OUTPUT),
    bare(' ', "trace-time", OUTPUT),
    with('w', "write-out", OUTPUT),
    with(' ', "stderr", OUTPUT),
    with(' ', "trace", OUTPUT),
    with(' ', "trace-ascii", OUTPUT),
    with('o', "output", FILES),
    with(' ', "output-dir", FILES),
    with('D', "dump-header", FILES),
    bare('O', "remote-name", FILES),
    bare('J', "remote-header-name", FILES),
    bare(' ', "create-dirs", FILES),
    bare('f', "fail", RESULT),
    bare(' ', "fail-with-body", RESULT),
    bare(' ', "fail-early", RESULT),
    bare('k', "insecure", Does::Insecure),
    with(' ', "cacert", Does::Authority),
    with('E', "cert", Does::Certificate),
    with(' ', "key", Does::Key),
    // Sets the lowest version, and 1.3 is above it.
    bare(' ', "tlsv1.2", Does::Nothing("TLS 1.2 is always the lowest version")),
    bare(' ', "tlsv1.3", Does::Tls13),
    with(' ', "tls-max", Does::TlsMax),
    with(' ', "ciphers", Does::Ciphers),
    with(' ', "tls13-ciphers", Does::Tls13Ciphers),
    bare(' ', "ssl-reqd", Does::Nothing("applies to protocols other than HTTP")),
    bare('0', "http1.0", Does::Http(Http::V10)),
    with(' ', "resolve", Does::Resolve),
    bare(' ', "http1.1", Does::Http(Http::V11)),
    // Over plain text, curl would ask for an upgrade, which RFC 9113 has removed.
    bare(' ', "http2", Does::Http(Http::V2)),
    bare(' ', "http2-prior-knowledge", Does::Http(Http::V2)),
    bare(' ', "basic", Does::Nothing("`-u` always means Basic")),
    bare('q', "disable", Does::Nothing("plimsoll never reads curl's configuration files")),
    with(
        ' ',
        "noproxy",
        Does::Refused("exceptions from the proxy are not supported", "remove the option, or the proxy"),
    ),
    bare('L', "location", Does::Location),
    // curl would send the password to other hosts, but plimsoll does not load those.
    bare(' ', "location-trusted", Does::Location),
    with(' ', "max-redirs", Does::MaxRedirects),
    with('F', "form", Does::Form),
    with(' ', "form-string", Does::FormString),
    with('x', "proxy", Does::Proxy("http")),
    with('U', "proxy-user", Does::ProxyUser),
    with(' ', "socks5", Does::Proxy("socks5")),
    with(' ', "socks5-hostname", Does::Proxy("socks5h")),
    bare(' ', "proxy-basic", Does::Nothing("`-U` always means Basic")),
    with(' ', "unix-socket", Does::UnixSocket),
    with(' ', "interface", Does::Interface),
    bare(' ', "haproxy-protocol", Does::ProxyHeader),
    // Rejected: they would change what is sent, or its destination.
    bare(' ', "http3", NO_VERSION),
    bare(' ', "http3-only", NO_VERSION),
    bare(' ', "http0.9", NO_VERSION),
    with(' ', "socks4", NO_PROXY),
    with(' ', "socks4a", NO_PROXY),
    with(' ', "preproxy", NO_PROXY),
    bare(' ', "digest", NO_AUTH_HERE),
    bare(' ', "ntlm", NO_AUTH),
    bare(' ', "negotiate", NO_AUTH),
    bare(' ', "anyauth", NO_AUTH),
    bare('n', "netrc", NO_AUTH),
    with(' ', "aws-sigv4", NO_AUTH_HERE),
    with(
        ' ',
        "connect-to",
        Does::Refused(
            "`--connect-to` is not supported",
            "write `--addresses IP:PORT` before the word `curl`",
        ),
    ),
    bare('4', "ipv4", NO_ADDRESS),
    bare('6', "ipv6", NO_ADDRESS),
    with(' ', "retry", NO_RETRY),
    with(' ', "retry-delay", NO_RETRY),
    with(' ', "retry-max-time", NO_RETRY),
    bare(' ', "retry-all-errors", NO_RETRY),
    bare(' ', "retry-connrefused", NO_RETRY),
    bare(':', "next", NO_SEVERAL),
    bare('Z', "parallel", NO_SEVERAL),
    with('c', "cookie-jar", NO_COOKIES),
    bare('j', "junk-session-cookies", NO_COOKIES),
    with(
        'T',
        "upload-file",
        Does::Refused("`--upload-file` is not supported", "write `-X PUT --data-binary @file`"),
    ),
    with(
        'K',
        "config",
        Does::Refused("curl's configuration files are not supported", "write their options in the curl line"),
    ),
    with(' ', "limit-rate", Does::Refused("connection speed cannot be limited", "remove the option")),
    with(
        ' ',
        "url-query",
        Does::Refused(
            "`--url-query` is not supported yet",
            "write the query in the URL, or use `-G` with `--data-urlencode`",
        ),
    ),
    bare(
        ' ',
        "no-keepalive",
        Does::Refused(
            "curl's `--no-keepalive` disables TCP keepalive probes, which plimsoll never sends",
            "to close connections after each request, write `--no-keepalive` before the word `curl`",
        ),
    ),
];

/// Returns the row of a long option, without its dashes.
pub fn long(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.long == name)
}

/// Returns the row of a short option.
pub fn short(letter: char) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.short == Some(letter))
}
