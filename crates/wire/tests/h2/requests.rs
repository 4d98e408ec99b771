//! Requests as header blocks: written by programs, prepared once, or taken over from HTTP/1.

use super::peer::*;
use plimsoll_wire::h1::{self, check_header};
use plimsoll_wire::h2::{Ask, Prepared, Request, Writer, from_http1};
use plimsoll_wire::hpack::{Decoder, Fields, Scratch};

const GET_PICK: h1::Request<'static> = h1::Request {
    method: "GET",
    target: "/pick?n=1",
    host: "127.0.0.1:8080",
    headers: &[],
    body: None,
    http10: false,
    close: false,
    user_agent: "plimsoll/0.1.0",
};

fn decoded(decoder: &mut Decoder, block: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut pairs = Vec::new();
    let read = decoder.decode(block, &mut Scratch::default(), |name, value| {
        pairs.push((text(name), text(value)));
        true
    });
    assert_eq!(read, Ok(()));
    pairs
}

/// Returns the fields of a block on a new connection, of which nothing may stay.
fn fields(block: &[u8]) -> Vec<(String, String)> {
    let mut decoder = Decoder::new(4096);
    let pairs = decoded(&mut decoder, block);
    assert_eq!(decoder.changes(), 0, "the block fits any connection");
    pairs
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Writes the request line of `GET /a`.
fn line(writer: &mut Writer<'_>) {
    writer.line("GET", put("/a")).unwrap();
}

#[test]
fn a_program_writes_a_request_as_in_http1() {
    let mut out = b"before".to_vec();
    let mut writer = Writer::new(&mut out, "https", "shop.example");
    let target = writer.line("POST", put("/buy?n=1")).unwrap();
    writer.field("Host", b"other.example:8443");
    writer.field("Content-Type", b"application/json");
    writer.field_with("X-Id", put("7")).unwrap();
    writer.field_if_any("Cookie", |_| {});
    writer.field_if_any("X-Any", |out| out.extend_from_slice(b"some"));
    let end = writer.end();
    writer.body(b"{}");
    assert_eq!((&out[target.clone()], &out[end..]), (&b"/buy?n=1"[..], &b"{}"[..]));
    assert_eq!(
        fields(&out[6..end]),
        pairs(&[
            (":method", "POST"),
            (":path", "/buy?n=1"),
            (":scheme", "https"),
            (":authority", "other.example:8443"),
            ("content-type", "application/json"),
            ("x-id", "7"),
            ("x-any", "some"),
        ])
    );
}

#[test]
fn the_authority_is_that_of_the_origin_unless_a_host_is_written_anywhere() {
    let written = |names: &[(&str, &str)]| {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, "http", "origin");
        line(&mut writer);
        names.iter().for_each(|(name, value)| writer.field(name, value.as_bytes()));
        writer.end();
        fields(&out)[3..].to_vec()
    };
    assert_eq!(written(&[]), pairs(&[(":authority", "origin")]));
    assert_eq!(written(&[("A", "1")]), pairs(&[(":authority", "origin"), ("a", "1")]));
    assert_eq!(written(&[("hOST", "h"), ("A", "1")]), pairs(&[(":authority", "h"), ("a", "1")]));
    assert_eq!(written(&[("A", "1"), ("Host", "late")]), pairs(&[(":authority", "late"), ("a", "1")]));
    assert_eq!(
        written(&[("Host", "x"), ("A", "1"), ("Host", "y")]),
        pairs(&[(":authority", "y"), ("a", "1")])
    );
    assert_eq!(written(&[("Host", ""), ("A", "1")]), pairs(&[(":authority", "origin"), ("a", "1")]));
}

#[test]
fn a_first_field_without_a_value_leaves_the_authority() {
    for host in [None, Some("h")] {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, "http", "origin");
        line(&mut writer);
        writer.field_if_any("Cookie", |_| {});
        writer.field_if_any("Host", |out| out.extend_from_slice(host.unwrap_or_default().as_bytes()));
        writer.field("A", b"1");
        writer.end();
        assert_eq!(fields(&out)[3..], pairs(&[(":authority", host.unwrap_or("origin")), ("a", "1")]));
    }
}

#[test]
fn fields_of_the_connection_are_omitted() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, "http", "origin");
    line(&mut writer);
    for (name, value) in [
        ("Connection", "keep-alive"),
        ("Keep-Alive", "timeout=5"),
        ("Proxy-Connection", "close"),
        ("Transfer-Encoding", "chunked"),
        ("Upgrade", "websocket"),
        ("HTTP2-Settings", "AAMAAABk"),
        ("TE", "gzip"),
        ("TE", "Trailers"),
        ("Upgrade-Insecure-Requests", "1"),
    ] {
        assert_eq!(check_header(name, value), Ok(()));
        writer.field(name, value.as_bytes());
    }
    writer.end();
    assert_eq!(fields(&out)[4..], pairs(&[("te", "Trailers"), ("upgrade-insecure-requests", "1")]));
}

#[test]
fn values_may_have_any_length_and_the_target_is_where_it_says() {
    for len in [0, 1, 126, 127, 128, 254, 255, 300, 20_000] {
        let (path, value) = (format!("/{}", "p".repeat(len)), "v".repeat(len));
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, "http", "origin");
        let target = writer.line("GET", put(&path)).unwrap();
        writer.field("X-Long", value.as_bytes());
        writer.field("Cookie", value.as_bytes());
        writer.end();
        assert_eq!(&out[target], path.as_bytes());
        let found = fields(&out);
        assert_eq!((&found[1].1, &found[4].1, &found[5].1), (&path, &value, &value), "{len}");
    }
    let name = "X-".repeat(100);
    let mut out = Vec::new();
    Writer::of_fields(&mut out).field(&name, b"1");
    assert_eq!(fields(&out), pairs(&[(&name.to_lowercase(), "1")]));
}

#[test]
fn fields_may_be_made_once_and_written_often() {
    let mut made = Vec::new();
    let mut maker = Writer::of_fields(&mut made);
    maker.field("Accept", b"*/*");
    maker.field("Connection", b"close");
    maker.field("Host", b"made.example");
    maker.end();
    let mut plain = Vec::new();
    Writer::of_fields(&mut plain).field("X-A", b"1");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, "http", "origin");
    line(&mut writer);
    writer.fields_made(&made);
    writer.fields_made(&plain);
    writer.field("Host", b"too late");
    writer.end();
    let expected = [(":authority", "made.example"), ("accept", "*/*"), ("x-a", "1")];
    assert_eq!(fields(&out)[3..], pairs(&expected));
    out.clear();
    let mut writer = Writer::new(&mut out, "http", "origin");
    line(&mut writer);
    writer.fields_made(&plain);
    writer.end();
    assert_eq!(fields(&out)[3..], pairs(&[(":authority", "origin"), ("x-a", "1")]));
}

#[test]
fn an_error_of_a_value_is_returned() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, "http", "origin");
    assert_eq!(writer.line("GET", |_| Err("target")), Err("target"));
    assert_eq!(writer.field_with("X", |_| Err("value")), Err("value"));
    assert_eq!(writer.field_with("Host", |_| Err("host")), Err("host"));
}

#[test]
fn connect_with_a_protocol_has_it_before_the_fields() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, "https", "chat.example");
    writer.line("CONNECT", put("/chat")).unwrap();
    writer.protocol("websocket");
    writer.field("Sec-WebSocket-Version", b"13");
    writer.end();
    let expected = pairs(&[
        (":method", "CONNECT"),
        (":path", "/chat"),
        (":scheme", "https"),
        (":protocol", "websocket"),
        (":authority", "chat.example"),
        ("sec-websocket-version", "13"),
    ]);
    assert_eq!(fields(&out), expected);
    let headers = [("Sec-WebSocket-Version".to_owned(), "13".to_owned())];
    let connect = h1::Request {
        method: "CONNECT",
        target: "/chat",
        host: "chat.example",
        headers: &headers,
        user_agent: "p",
        ..GET_PICK
    };
    let mut numbered = Fields::new();
    let prepared = Prepared::new(&connect, "https", Some("websocket"), &mut numbered);
    let mut client = Client::settled();
    client.session.open(prepared.ask(), Request::Prepared(&prepared, &numbered), &mut client.out).unwrap();
    let mut found = decoded(&mut Decoder::new(4096), &client.sent()[0].3);
    let mut all = [expected, pairs(&[("user-agent", "p"), ("accept", "*/*")])].concat();
    assert!(found[..5].iter().all(|(name, _)| name.starts_with(':')));
    found.sort();
    all.sort();
    assert_eq!(found, all);
}

#[test]
fn a_prepared_request_has_the_fields_of_http1_and_shrinks_to_indexes() {
    let headers = [("X-Tenant".to_owned(), "one".to_owned()), ("Connection".to_owned(), "close".to_owned())];
    let request = h1::Request { headers: &headers, ..GET_PICK };
    let mut numbered = Fields::new();
    let prepared = Prepared::new(&request, "http", None, &mut numbered);
    let mut client = Client::settled();
    let mut decoder = Decoder::new(4096);
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let stream = client.session.open(
            Ask { tag: 9, ..prepared.ask() },
            Request::Prepared(&prepared, &numbered),
            &mut client.out,
        );
        let sent = client.sent();
        let [(HEADERS, ALONE, of, block)] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!(Some(*of), stream);
        assert_eq!(
            decoded(&mut decoder, block),
            pairs(&[
                (":method", "GET"),
                (":scheme", "http"),
                (":authority", "127.0.0.1:8080"),
                (":path", "/pick?n=1"),
                ("x-tenant", "one"),
                ("user-agent", "plimsoll/0.1.0"),
                ("accept", "*/*"),
            ])
        );
        sizes.push(block.len());
    }
    assert_eq!((sizes[1], sizes[2]), (7, 7));
    assert!(sizes[0] > 50);
}

#[test]
fn prepared_requests_share_their_fields() {
    let mut numbered = Fields::new();
    let other = h1::Request { target: "/other", ..GET_PICK };
    let prepared = [
        Prepared::new(&GET_PICK, "http", None, &mut numbered),
        Prepared::new(&other, "http", None, &mut numbered),
    ];
    // Two paths; authority, user agent, and accept once.
    assert_eq!(numbered.len(), 5);
    let mut client = Client::settled();
    let mut decoder = Decoder::new(4096);
    let mut open = |at: usize| {
        let request = Request::Prepared(&prepared[at], &numbered);
        client.session.open(prepared[at].ask(), request, &mut client.out).unwrap();
        let block = client.sent()[0].3.clone();
        (block.len(), decoded(&mut decoder, &block)[3].1.clone())
    };
    open(0);
    let (len, path) = open(1);
    assert_eq!(path, "/other");
    assert!(len < 20, "only the path is new: {len}");
    assert_eq!((open(0), open(1)), ((6, "/pick?n=1".to_owned()), (6, "/other".to_owned())));
}

#[test]
fn the_first_request_before_the_settings_inserts_nothing() {
    let mut numbered = Fields::new();
    let prepared = Prepared::new(&GET_PICK, "http", None, &mut numbered);
    let mut client = Client::new(Default::default(), Default::default());
    let open = |client: &mut Client, decoder: &mut Decoder| {
        let request = Request::Prepared(&prepared, &numbered);
        client.session.open(prepared.ask(), request, &mut client.out).unwrap();
        let block = client.sent().last().unwrap().3.clone();
        decoded(decoder, &block);
        block
    };
    let mut decoder = Decoder::new(4096);
    open(&mut client, &mut decoder);
    assert_eq!(decoder.changes(), 0);
    // The server has no table.
    client.feed(&settings(&[(1, 0)])).unwrap();
    client.out.clear();
    assert_eq!(open(&mut client, &mut decoder)[0], 0x20);
    assert_ne!(open(&mut client, &mut decoder)[0], 0x20);
    assert_eq!(decoder.changes(), 1);
    // A rendered block has the new size before it, too.
    let mut other = Client::settled();
    other.feed(&settings(&[(1, 100)])).unwrap();
    other.out.clear();
    other.open(GET).unwrap();
    assert_eq!(other.sent()[0].3[..2], [0x3f, 100 - 31]);
}

#[test]
fn a_prepared_request_says_whether_a_body_follows() {
    let mut numbered = Fields::new();
    let mut prepare = |method, body| {
        Prepared::new(&h1::Request { method, body, ..GET_PICK }, "http", None, &mut numbered).ask()
    };
    assert_eq!(prepare("GET", None), Ask::default());
    assert_eq!(prepare("HEAD", None), Ask { head_only: true, ..Ask::default() });
    assert_eq!(prepare("POST", Some(&b"{}"[..])), Ask { has_body: true, ..Ask::default() });
    assert_eq!(prepare("POST", Some(&b""[..])), Ask::default());
    let mut numbered = Fields::new();
    let post = h1::Request { method: "POST", body: Some(b"12345"), ..GET_PICK };
    let prepared = Prepared::new(&post, "http", None, &mut numbered);
    let mut client = Client::settled();
    client.session.open(prepared.ask(), Request::Prepared(&prepared, &numbered), &mut client.out).unwrap();
    let found = decoded(&mut Decoder::new(4096), &client.sent()[0].3);
    assert!(found.contains(&("content-length".to_owned(), "5".to_owned())));
}

#[test]
fn a_request_of_http1_is_taken_over_with_its_body() {
    let headers = [
        ("Content-Type".to_owned(), "text/plain".to_owned()),
        ("Connection".to_owned(), "close".to_owned()),
        ("Cookie".to_owned(), "a=1; b=2".to_owned()),
    ];
    let request = h1::Request { method: "PUT", headers: &headers, body: Some(b"a\r\n\r\nb"), ..GET_PICK };
    let mut bytes = Vec::new();
    h1::render(&request, &mut bytes);
    let mut out = Vec::new();
    assert_eq!(from_http1(&bytes, "https", &mut out), Some(&b"a\r\n\r\nb"[..]));
    assert_eq!(
        fields(&out),
        pairs(&[
            (":method", "PUT"),
            (":path", "/pick?n=1"),
            (":scheme", "https"),
            (":authority", "127.0.0.1:8080"),
            ("content-type", "text/plain"),
            ("cookie", "a=1; b=2"),
            ("user-agent", "plimsoll/0.1.0"),
            ("accept", "*/*"),
            ("content-length", "6"),
        ])
    );
    for broken in
        ["", "GET / HTTP/1.1", "GET / HTTP/1.1\r\nHost: x\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nx\r\n\r\n"]
    {
        assert_eq!(from_http1(broken.as_bytes(), "http", &mut Vec::new()), None, "{broken}");
    }
}
