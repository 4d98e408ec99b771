//! The table of curl's options: what each does to the request here. What is not in it is refused by name.

/// What an option means for a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Method,
    Header,
    /// `-d` and its kin.
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
    /// Braces and brackets in the URL stand for themselves.
    GlobOff,
    /// `/./` and `/../` in the URL are sent as they stand.
    PathAsIs,
    /// What the server's certificate is worth is not asked.
    Insecure,
    /// A PEM file: own authorities, our certificate, its key.
    Authority,
    Certificate,
    Key,
    Tls13,
    /// `-L`, and how many redirects at most.
    Location,
    MaxRedirects,
    /// A part of a `multipart/form-data` body; a leading `@` or `<` names a file.
    Form,
    /// The same with the value as it is.
    FormString,
    Http10,
    /// `host:port:address`
    Resolve,
    /// Accepted, because it says nothing about the request; the reason is for the reader of this table.
    Nothing(&'static str),
    /// Refused: what is wrong, and the mend.
    Refused(&'static str, &'static str),
}

/// The five ways to give data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// `@file` without its line ends.
    Text,
    /// `@` stands for itself.
    Raw,
    /// `@file` as it is.
    Binary,
    UrlEncode,
    /// Binary, with headers that say JSON; pieces are not joined by `&`.
    Json,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub short: Option<char>,
    pub long: &'static str,
    /// Whether a word follows.
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
const FILES: Does = Does::Nothing("says where curl writes the answer; a load test keeps no answers");
const RESULT: Does = Does::Nothing("sets curl's exit code; failed requests are counted in any case");
const NO_VERSION: Does = Does::Refused("requests are sent as HTTP/1.1 or 1.0 only", "leave it out");
const NO_PROXY: Does = Does::Refused("proxies are not supported", "load the service directly");
const NO_AUTH: Does =
    Does::Refused("this way to log in is not supported yet", "use `-u`, or send a header with `-H`");
const NO_ADDRESS: Does = Does::Refused(
    "the address cannot be chosen apart from the URL",
    "write the address into the URL and send `-H 'Host: name'`",
);
const NO_CIPHERS: Does = Does::Refused("ciphers cannot be chosen", "leave it out");
const NO_RETRY: Does =
    Does::Refused("a load test does not repeat failed requests: it counts them", "leave it out");
const NO_SEVERAL: Does = Does::Refused(
    "several requests are not supported on this line",
    "write an experiment file with one item for each",
);
const NO_COOKIES: Does = Does::Refused(
    "cookies are not kept on this line",
    "send fixed ones: `-b 'name=value'`, or write a file with `cookies: true`",
);

/// All options that are known.
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
    // Accepted: they say nothing about the request.
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
    // The lowest version: 1.3 is above it.
    bare(' ', "tlsv1.2", Does::Nothing("TLS 1.2 is the lowest version in any case")),
    bare(' ', "tlsv1.3", Does::Tls13),
    bare(' ', "ssl-reqd", Does::Nothing("concerns protocols other than HTTP")),
    bare('0', "http1.0", Does::Http10),
    with(' ', "resolve", Does::Resolve),
    bare(' ', "http1.1", Does::Nothing("requests are sent as HTTP/1.1 in any case")),
    bare(' ', "basic", Does::Nothing("`-u` means Basic in any case")),
    bare('q', "disable", Does::Nothing("no settings file is read in any case")),
    with(' ', "noproxy", Does::Nothing("no proxy is used in any case")),
    bare('L', "location", Does::Location),
    // It would send the password to other hosts, and those are not loaded.
    bare(' ', "location-trusted", Does::Location),
    with(' ', "max-redirs", Does::MaxRedirects),
    with('F', "form", Does::Form),
    with(' ', "form-string", Does::FormString),
    // Refused: they would change what is sent, or where to.
    bare(' ', "http2", NO_VERSION),
    bare(' ', "http2-prior-knowledge", NO_VERSION),
    bare(' ', "http3", NO_VERSION),
    bare(' ', "http3-only", NO_VERSION),
    bare(' ', "http0.9", NO_VERSION),
    with('x', "proxy", NO_PROXY),
    with('U', "proxy-user", NO_PROXY),
    with(' ', "socks5", NO_PROXY),
    with(' ', "socks5-hostname", NO_PROXY),
    bare(' ', "digest", NO_AUTH),
    bare(' ', "ntlm", NO_AUTH),
    bare(' ', "negotiate", NO_AUTH),
    bare(' ', "anyauth", NO_AUTH),
    bare('n', "netrc", NO_AUTH),
    with(' ', "aws-sigv4", NO_AUTH),
    with(' ', "connect-to", NO_ADDRESS),
    with(' ', "interface", NO_ADDRESS),
    with(' ', "unix-socket", NO_ADDRESS),
    bare('4', "ipv4", NO_ADDRESS),
    bare('6', "ipv6", NO_ADDRESS),
    with(' ', "ciphers", NO_CIPHERS),
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
        Does::Refused("uploads are not supported by this option", "write `-X PUT --data-binary @file`"),
    ),
    with(
        'K',
        "config",
        Does::Refused("curl's settings files are not read", "write their options on the line"),
    ),
    with(' ', "limit-rate", Does::Refused("the speed of a connection cannot be limited", "leave it out")),
    with(
        ' ',
        "url-query",
        Does::Refused(
            "it is not supported yet",
            "write the query into the URL, or use `-G` with `--data-urlencode`",
        ),
    ),
    bare(
        ' ',
        "no-keepalive",
        Does::Refused(
            "it concerns probes of TCP, which are not sent",
            "connections are closed after each request by `--no-keepalive` in front of the word `curl`",
        ),
    ),
];

/// The row of a long option, without its dashes.
pub fn long(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.long == name)
}

/// The row of a short option.
pub fn short(letter: char) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.short == Some(letter))
}
