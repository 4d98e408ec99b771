//! The differences from curl that are intended.

use super::Door;

/// An intended difference. Each row must be needed by a case.
pub struct Reason {
    /// The door that it is seen through; none: both.
    pub door: Option<Door>,
    /// Names of cases; none: all.
    pub cases: &'static [&'static str],
    pub aspect: &'static str,
    pub why: &'static str,
}

const fn both(aspect: &'static str, cases: &'static [&'static str], why: &'static str) -> Reason {
    Reason { door: None, cases, aspect, why }
}

const fn of_file(aspect: &'static str, cases: &'static [&'static str], why: &'static str) -> Reason {
    Reason { door: Some(Door::File), cases, aspect, why }
}

const fn of_line(aspect: &'static str, cases: &'static [&'static str], why: &'static str) -> Reason {
    Reason { door: Some(Door::Line), cases, aspect, why }
}

/// Requests that become a GET with `-X`, which curl repeats with the method, or with a header from `-H`.
const TURNED: &[&str] = &["301 of POST", "302 of POST", "303 of POST", "303 of PUT"];
const DIGESTS: &[&str] =
    &["digest by MD5", "digest by SHA-256", "digest of a session", "digest without qop", "digest of a POST"];
const CHOICE: &str = "300 offers a choice, which is not followed (Fetch standard)";
const CHUNKS: &[&str] = &["upload in chunks", "PUT in chunks", "chunks over HTTP/2"];

pub const REASONS: &[Reason] = &[
    both("header user-agent", &[], "each tool says its own name"),
    both("header proxy-connection", &[], "no RFC has this header of curl"),
    both(
        "header content-length",
        &["POST without a body", "POST without a body over HTTP/2"],
        "a POST without a body has the length 0 (RFC 9110 section 8.6)",
    ),
    both(
        "header connection",
        &["HTTP/1.0", "POST over HTTP/1.0"],
        "it asks for a connection that stays open",
    ),
    of_file("requests", &["300 with a location"], CHOICE),
    // It sends the first request twice.
    of_line("target", &["300 with a location"], CHOICE),
    both("statuses", &["300 with a location"], CHOICE),
    both("method", &["303 of PUT"], "303 turns a PUT into a GET (RFC 9110); curl repeats `-X`"),
    both("header content-type", TURNED, "without the body, its type is dropped; curl repeats `-H`"),
    of_file("target", &["dot segments"], "a path of a file is sent as it is written"),
    of_file(
        "target",
        &["query of words", "query beyond ASCII", "query through a proxy"],
        "a space in a query is `%20`; `+` is one only in forms",
    ),
    of_file("target", &["letters beyond ASCII"], "letters of a query are encoded, too"),
    of_file(
        "header expect",
        &["body above 1 MiB"],
        "a body waits for the server if the file says so; curl asks above 1 MiB",
    ),
    of_file("header content-type", &["body without a type"], "a text has no type unless the file says so"),
    of_file(
        "header accept",
        &["JSON", "JSON beyond ASCII", "JSON by PUT"],
        "the type of the request says nothing about that of the response",
    ),
    of_line("refused", &["letters beyond ASCII"], "a URL has only ASCII (RFC 3986)"),
    of_line("refused", DIGESTS, "a pasted line answers no challenges; a file does"),
    of_line("refused", CHUNKS, "a pasted line sends bodies with their length; a file can send chunks"),
    of_line(
        "refused",
        &["cookie that a redirect sets", "cookie for another path"],
        "a pasted line has no cookie jar; a file has",
    ),
    of_line(
        "refused",
        &["HTTP/2 in a tunnel", "POST by HTTP/2 in a tunnel"],
        "`-p` is unknown: HTTP/2 always goes through a tunnel",
    ),
    of_line(
        "refused",
        &["proxy over TLS", "POST through a proxy over TLS"],
        "`--proxy-cacert` is unknown: `--cacert` applies to the proxy, too",
    ),
];
