//! The cases.

use super::case::{Auth, Body, Case, GET, POST, Part, Way};

/// A response of the ruler that asks for a digest.
macro_rules! challenge {
    ($parameters:literal) => {
        concat!("/private?status=401&header=WWW-Authenticate:Digest%20", $parameters)
    };
}

/// Requests with a redirect of each status.
const REDIRECTS: &[Case] = &[
    Case { name: "301 of GET", path: "/go?status=301&location=/there%3Fx=1", follows: true, ..GET },
    Case { name: "302 of GET", path: "/go?status=302&location=/there", follows: true, ..GET },
    Case { name: "303 of GET", path: "/go?status=303&location=/there", follows: true, ..GET },
    Case { name: "307 of GET", path: "/go?status=307&location=/there", follows: true, ..GET },
    Case { name: "308 of GET", path: "/go?status=308&location=/there", follows: true, ..GET },
    Case { name: "301 of POST", path: "/go?status=301&location=/there", follows: true, ..POST },
    Case { name: "302 of POST", path: "/go?status=302&location=/there", follows: true, ..POST },
    Case { name: "303 of POST", path: "/go?status=303&location=/there", follows: true, ..POST },
    Case { name: "307 of POST", path: "/go?status=307&location=/there", follows: true, ..POST },
    Case { name: "308 of POST", path: "/go?status=308&location=/there", follows: true, ..POST },
    Case {
        name: "302 of HEAD",
        method: "HEAD",
        path: "/go?status=302&location=/there",
        follows: true,
        ..GET
    },
    Case { name: "303 of PUT", method: "PUT", path: "/go?status=303&location=/there", follows: true, ..POST },
    Case { name: "307 of PUT", method: "PUT", path: "/go?status=307&location=/there", follows: true, ..POST },
    Case {
        name: "302 of DELETE",
        method: "DELETE",
        path: "/go?status=302&location=/there",
        follows: true,
        ..GET
    },
    Case {
        name: "redirect to a relative path",
        path: "/a/b/go?status=302&location=../there",
        follows: true,
        ..GET
    },
    Case { name: "redirect to a query", path: "/a/b?status=302&location=%3Fx=1", follows: true, ..GET },
    Case {
        name: "redirect to a fragment of another page",
        path: "/go?status=302&location=/there%23part",
        follows: true,
        ..GET
    },
    Case {
        name: "redirect to a path with a space",
        path: "/go?status=302&location=/the%20re",
        follows: true,
        ..GET
    },
    Case { name: "redirect that is not followed", path: "/go?status=302&location=/there", ..GET },
    Case {
        name: "location of a status that does not redirect",
        path: "/go?status=201&location=/there",
        follows: true,
        ..GET
    },
    Case { name: "300 with a location", path: "/go?status=300&location=/there", follows: true, ..GET },
    Case {
        name: "redirect with a login",
        path: "/go?status=302&location=/there",
        auth: Auth::Basic("me", "pass"),
        follows: true,
        ..GET
    },
    Case {
        name: "redirect of a form",
        path: "/go?status=308&location=/there",
        headers: &[],
        body: Body::Form(&[("a", "1"), ("b", "2")]),
        follows: true,
        ..POST
    },
    Case {
        name: "redirect through a proxy",
        path: "/go?status=302&location=/there",
        follows: true,
        way: Way::Proxy,
        ..GET
    },
];

const PLAIN: &[Case] = &[
    // Methods.
    Case { name: "GET", ..GET },
    Case { name: "HEAD", method: "HEAD", path: "/there", ..GET },
    Case { name: "POST", ..POST },
    Case { name: "POST without a body", method: "POST", ..GET },
    Case { name: "PUT", method: "PUT", ..POST },
    Case { name: "PATCH", method: "PATCH", ..POST },
    Case { name: "DELETE", method: "DELETE", ..GET },
    Case { name: "DELETE with a body", method: "DELETE", ..POST },
    Case { name: "OPTIONS", method: "OPTIONS", ..GET },
    Case { name: "PROPFIND", method: "PROPFIND", headers: &[("Depth", "1")], ..GET },
    Case { name: "GET with a body", method: "GET", ..POST },
    // Paths.
    Case { name: "root", path: "/", ..GET },
    Case { name: "only a query", path: "?x=1", ..GET },
    Case { name: "empty query", path: "/there?", ..GET },
    Case { name: "query without values", path: "/there?x&y=&=z&&", ..GET },
    Case { name: "query with other delimiters", path: "/there?to=http://h/a?b=1;c=2", ..GET },
    Case { name: "doubled slashes", path: "//there//there/", ..GET },
    Case { name: "dot segments", path: "/a/./b/../there/x.y/...", ..GET },
    Case { name: "delimiters", path: "/a~-._!$&'()*+,;=:@b", ..GET },
    Case { name: "escapes in both cases", path: "/%2F%2f%20%c3%A9%e2%82%ac%25", ..GET },
    Case { name: "brackets", path: "/a[1]{b}|^`c", ..GET },
    Case { name: "quotes", path: "/a\"b<c>d\\e", ..GET },
    Case { name: "letters beyond ASCII", path: "/grüße/世界?q=é", ..GET },
    Case { name: "fragment", path: "/there?x=1#part", ..GET },
    Case { name: "path parameters", path: "/there;v=1.1/there;jsessionid=7", ..GET },
    // Queries that the tool encodes.
    Case { name: "query of words", query: &[("q", "red shoes"), ("page", "2")], ..GET },
    Case { name: "query of delimiters", query: &[("q", "a&b=c?d/e#f%20+g")], ..GET },
    Case { name: "query beyond ASCII", query: &[("q", "grüße, 世界")], ..GET },
    Case { name: "query of an empty value", query: &[("q", ""), ("r", "1")], ..GET },
    Case { name: "query of equal names", query: &[("id", "1"), ("id", "2")], ..GET },
    Case { name: "query of unreserved characters", query: &[("q", "a-b.c_d~e*f")], ..GET },
    Case { name: "query after another", path: "/there?x=1", query: &[("q", "1")], ..GET },
    // Headers.
    Case { name: "empty header", headers: &[("X-Empty", "")], ..GET },
    Case { name: "header with a colon", headers: &[("X-Url", "http://h:1/a: b")], ..GET },
    Case { name: "header in lower case", headers: &[("x-lower-case", "1")], ..GET },
    Case { name: "header beyond ASCII", headers: &[("X-Name", "grüße")], ..GET },
    Case { name: "own Accept", headers: &[("Accept", "application/json, */*;q=0.1")], ..GET },
    Case { name: "own Host", headers: &[("Host", "shop.example")], ..GET },
    Case { name: "own User-Agent", headers: &[("User-Agent", "probe/1.0 (test)")], ..GET },
    Case { name: "own Connection", headers: &[("Connection", "close")], ..GET },
    Case { name: "several headers", headers: &[("X-A", "1"), ("X-B", "2, 3"), ("X-C", "\"q\"")], ..GET },
    // Cookies.
    Case { name: "cookie", cookies: "a=1", ..GET },
    Case { name: "cookies", cookies: "a=1; b=two=2; c=\"q\"", ..GET },
    Case {
        name: "cookie that a redirect sets",
        path: "/go?status=302&location=/there&set_cookie=s=1%3B%20Path=/",
        has_jar: true,
        follows: true,
        ..GET
    },
    Case {
        name: "cookie for another path",
        path: "/go?status=302&location=/there&set_cookie=s=1%3B%20Path=/elsewhere",
        has_jar: true,
        follows: true,
        ..GET
    },
    // Bodies.
    Case { name: "body without a type", headers: &[], ..POST },
    Case { name: "empty body", body: Body::Text(""), ..POST },
    Case { name: "body of lines", body: Body::Text("@one\r\ntwo\n\n"), ..POST },
    Case { name: "body beyond ASCII", body: Body::Text("grüße, 世界"), ..POST },
    Case { name: "body of a file", body: Body::File("bytes.bin"), ..POST },
    Case { name: "body of 100 KB", body: Body::File("large.txt"), ..POST },
    Case { name: "body above 1 MiB", body: Body::File("huge.txt"), ..POST },
    Case {
        name: "JSON",
        headers: &[],
        body: Body::Json(r#"{"name":"ball","price":1.5,"tags":["a",null,true]}"#),
        ..POST
    },
    Case {
        name: "JSON beyond ASCII", headers: &[], body: Body::Json(r#"{"q":"grüße \"世界\""}"#), ..POST
    },
    Case { name: "JSON by PUT", method: "PUT", headers: &[], body: Body::Json("[1,2]"), ..POST },
    // Forms.
    Case { name: "form", headers: &[], body: Body::Form(&[("user", "me"), ("pass", "s-4711")]), ..POST },
    Case {
        name: "form of delimiters",
        headers: &[],
        body: Body::Form(&[("q", "a&b=c +d"), ("empty", ""), ("path", "/x?y")]),
        ..POST
    },
    Case { name: "form beyond ASCII", headers: &[], body: Body::Form(&[("q", "grüße, 世界")]), ..POST },
    Case {
        name: "multipart of texts",
        headers: &[],
        body: Body::Parts(&[("a", Part::Text("1")), ("b", Part::Text("grüße;type=x"))]),
        ..POST
    },
    Case {
        name: "multipart with a file",
        headers: &[],
        body: Body::Parts(&[("note", Part::Text("x")), ("f", Part::File("note.txt", "text/csv"))]),
        ..POST
    },
    Case {
        name: "multipart with a named file",
        headers: &[],
        body: Body::Parts(&[("f", Part::Named("bytes.bin", "image/png", "a b.png"))]),
        ..POST
    },
    Case {
        name: "multipart with a quoted name",
        headers: &[],
        body: Body::Parts(&[("f", Part::Named("note.txt", "text/plain", "a\"b\\c.txt"))]),
        ..POST
    },
    Case {
        name: "multipart with an empty file",
        headers: &[],
        body: Body::Parts(&[("f", Part::File("empty.txt", "text/plain"))]),
        ..POST
    },
    // Logins.
    Case { name: "basic", auth: Auth::Basic("me", "pass"), ..GET },
    Case { name: "basic with colons", auth: Auth::Basic("me", "p:a:s s"), ..GET },
    Case { name: "basic beyond ASCII", auth: Auth::Basic("jürgen", "größe"), ..GET },
    Case { name: "basic without a password", auth: Auth::Basic("me", ""), ..GET },
    Case { name: "login in the URL", auth: Auth::Url("me:pass"), ..GET },
    Case { name: "encoded login in the URL", auth: Auth::Url("m%40e:p%3Ass%2F"), ..GET },
    Case { name: "bearer", auth: Auth::Bearer("t-4711.x_y~z+/="), ..GET },
    Case {
        name: "digest by MD5",
        path: challenge!("realm=%22r%22,%20nonce=%22n1%22,%20qop=%22auth%22"),
        auth: Auth::Digest("me", "pass"),
        ..GET
    },
    Case {
        name: "digest by SHA-256",
        path: challenge!(
            "realm=%22a%20b%22,%20nonce=%22n2%22,%20qop=%22auth,auth-int%22,%20algorithm=SHA-256,%20opaque=%22o%22"
        ),
        auth: Auth::Digest("me", "p:ss"),
        ..GET
    },
    Case {
        name: "digest of a session",
        path: challenge!("realm=%22r%22,%20nonce=%22n3%22,%20qop=%22auth%22,%20algorithm=MD5-sess"),
        auth: Auth::Digest("me", "pass"),
        ..GET
    },
    Case {
        name: "digest without qop",
        path: challenge!("realm=%22r%22,%20nonce=%22n4%22"),
        auth: Auth::Digest("me", "pass"),
        ..GET
    },
    Case {
        name: "digest of a POST",
        path: challenge!("realm=%22r%22,%20nonce=%22n5%22,%20qop=%22auth%22"),
        auth: Auth::Digest("me", "pass"),
        ..POST
    },
    // Responses.
    Case {
        name: "gzip",
        path: "/x?encoding=gzip&text=plain%20text",
        headers: &[("Accept-Encoding", "gzip")],
        decodes: true,
        ..GET
    },
    Case {
        name: "deflate",
        path: "/x?encoding=deflate&text=plain%20text",
        headers: &[("Accept-Encoding", "deflate")],
        decodes: true,
        ..GET
    },
    Case {
        name: "brotli",
        path: "/x?encoding=br&text=plain%20text",
        headers: &[("Accept-Encoding", "br")],
        decodes: true,
        ..GET
    },
    Case { name: "response in chunks", path: "/x?framing=chunked&chunk=7&body=200", ..GET },
    Case { name: "response with trailers", path: "/x?framing=chunked&trailers=1", ..GET },
    Case { name: "response until the end", path: "/x?framing=close", ..GET },
    Case { name: "response without a body", path: "/x?status=204", ..GET },
    Case { name: "response after others", path: "/x?informational=2", ..GET },
    Case { name: "HEAD with a length", method: "HEAD", path: "/x?body=5000", ..GET },
    Case { name: "status 404", path: "/x?status=404&text=none", ..GET },
    Case { name: "status 503", path: "/x?status=503&text=busy", ..POST },
    // Uploads.
    Case { name: "upload in chunks", body: Body::Chunked("first and last chunk"), ..POST },
    Case { name: "PUT in chunks", method: "PUT", body: Body::Chunked("first and last chunk"), ..POST },
    Case { name: "upload after a question", asks_first: true, ..POST },
    Case { name: "upload that is refused", path: "/there?on_expect=refuse", asks_first: true, ..POST },
    Case {
        name: "upload of 100 KB after a question",
        asks_first: true,
        body: Body::File("large.txt"),
        ..POST
    },
];

const WAYS: &[Case] = &[
    Case { name: "HTTP/1.0", way: Way::Http10, ..GET },
    Case { name: "POST over HTTP/1.0", way: Way::Http10, ..POST },
    Case { name: "HTTP/2", way: Way::Http2, ..GET },
    Case { name: "POST over HTTP/2", way: Way::Http2, ..POST },
    Case { name: "POST without a body over HTTP/2", method: "POST", way: Way::Http2, ..GET },
    Case { name: "HEAD over HTTP/2", method: "HEAD", path: "/x?body=50", way: Way::Http2, ..GET },
    Case { name: "100 KB over HTTP/2", body: Body::File("large.txt"), way: Way::Http2, ..POST },
    Case { name: "headers over HTTP/2", headers: &[("X-Mixed-Case", "Yes")], way: Way::Http2, ..GET },
    Case { name: "own Host over HTTP/2", headers: &[("Host", "shop.example")], way: Way::Http2, ..GET },
    Case { name: "cookies over HTTP/2", cookies: "a=1; b=2", way: Way::Http2, ..GET },
    Case { name: "basic over HTTP/2", auth: Auth::Basic("me", "pass"), way: Way::Http2, ..GET },
    Case { name: "chunks over HTTP/2", body: Body::Chunked("first and last"), way: Way::Http2, ..POST },
    Case { name: "question over HTTP/2", asks_first: true, way: Way::Http2, ..POST },
    Case {
        name: "gzip over HTTP/2",
        path: "/x?encoding=gzip&text=plain%20text",
        headers: &[("Accept-Encoding", "gzip")],
        decodes: true,
        way: Way::Http2,
        ..GET
    },
    Case { name: "HTTP/2 over TLS", way: Way::Http2Tls, ..GET },
    Case { name: "POST by HTTP/2 over TLS", way: Way::Http2Tls, ..POST },
    Case { name: "IPv6", way: Way::Ipv6, ..GET },
    Case { name: "POST by IPv6", way: Way::Ipv6, ..POST },
    Case { name: "Unix socket", way: Way::UnixSocket, ..GET },
    Case { name: "POST by a Unix socket", way: Way::UnixSocket, ..POST },
    Case { name: "proxy", way: Way::Proxy, ..GET },
    Case { name: "query through a proxy", query: &[("q", "a b")], way: Way::Proxy, ..GET },
    Case { name: "POST through a proxy", way: Way::Proxy, ..POST },
    Case { name: "basic through a proxy", auth: Auth::Basic("me", "x"), way: Way::Proxy, ..GET },
    Case { name: "proxy with a login", way: Way::ProxyLogin, ..GET },
    Case { name: "POST through a proxy with a login", way: Way::ProxyLogin, ..POST },
    Case { name: "proxy over TLS", way: Way::ProxyTls, ..GET },
    Case { name: "POST through a proxy over TLS", body: Body::File("large.txt"), way: Way::ProxyTls, ..POST },
    Case { name: "HTTP/2 in a tunnel", way: Way::ProxyHttp2, ..GET },
    Case { name: "POST by HTTP/2 in a tunnel", way: Way::ProxyHttp2, ..POST },
    Case { name: "SOCKS5", way: Way::Socks5, ..GET },
    Case { name: "POST by SOCKS5", way: Way::Socks5, ..POST },
    Case { name: "name by SOCKS5", way: Way::Socks5Name, ..GET },
    Case { name: "SOCKS5 with a login", way: Way::Socks5Login, ..GET },
    Case { name: "name without DNS", way: Way::Resolve, ..GET },
    Case { name: "another source address", way: Way::Source, ..GET },
];

/// All cases.
pub fn cases() -> Vec<Case> {
    [PLAIN, REDIRECTS, WAYS].concat()
}
