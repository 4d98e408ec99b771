//! Requests of a script are sent as written, with each user's values, exact to the byte.

use crate::ask_common;
use crate::ask_common::{User, ask, form, literal, site, text, with_body, with_headers};
use plimsoll_plan::head::Head;
use plimsoll_plan::script::Ask;
use plimsoll_plan::stream::Stream;
use plimsoll_plan::value::{Escape, Placeholder, Text};
use plimsoll_script::ask::{CookieJar, Form, Site, set_header};
use plimsoll_script::value::Unfilled;
use plimsoll_wire::h1;

fn rendered(ask: &Ask, values: &[&str]) -> String {
    User::with(values).text(&form(ask), None)
}

#[test]
fn a_request_without_placeholders_equals_that_of_a_plain_load() {
    let names = [
        ("GET", None, &[][..]),
        ("GET", None, &[("X-First", "1"), ("HOST", "other.example"), ("accept", "text/html")]),
        ("POST", None, &[("connection", "Upgrade"), ("user-agent", "me")]),
        ("PUT", Some("{\"a\":1}"), &[("Content-Type", "application/json")]),
        ("POST", Some("0\r\n\r\n"), &[("Transfer-Encoding", "chunked")]),
        ("DELETE", Some(""), &[]),
        ("POST", Some("x"), &[("content-LENGTH", "99")]),
        ("HEAD", None, &[("Connection", "close")]),
        ("GET", None, &[("Connection", "x, Close"), ("Connection", "keep-alive")]),
    ];
    for (method, body, headers) in names {
        for (http10, close) in [(false, false), (true, false), (false, true), (true, true)] {
            let pairs: Vec<(&str, Text)> = headers.iter().map(|(n, v)| (*n, literal(v))).collect();
            let mut own = with_headers(ask(method, literal("/pick?n=1")), &pairs);
            own.body = body.map(literal);
            let form = Form::compile(&own, &Site { http10, close, ..site() }).expect("the request is valid");
            let texts: Vec<(String, String)> =
                headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            let request = h1::Request {
                method,
                target: "/pick?n=1",
                host: "shop.example:8080",
                headers: &texts,
                body: body.map(str::as_bytes),
                http10,
                close,
                user_agent: "plimsoll/0.1.0",
            };
            let mut expected = Vec::new();
            h1::render(&request, &mut expected);
            assert_eq!(User::new().text(&form, None), String::from_utf8_lossy(&expected));
            assert_eq!((form.head_only(), form.close()), (request.ask().head_only, request.ask().close));
        }
    }
}

#[test]
fn values_fill_path_headers_and_body_and_the_length_counts_them() {
    let request = with_headers(
        ask("POST", text("/items/$0/buy?to=$1", Escape::Percent)),
        &[
            ("Authorization", text("Bearer $s", Escape::None)),
            ("X-Trace", text("a-$0-b$1", Escape::None)),
            ("Content-Type", literal("application/json")),
        ],
    );
    let request = with_body(request, text("{\"name\":\"$1\",\"id\":$0}", Escape::Json));
    assert_eq!(
        rendered(&request, &["17", "J\u{e4}\"r k"]),
        "POST /items/17/buy?to=J%C3%A4%22r%20k HTTP/1.1\r\nHost: shop.example:8080\r\n\
         Authorization: Bearer s3cret\r\nX-Trace: a-17-bJ\u{e4}\"r k\r\nContent-Type: application/json\r\n\
         User-Agent: plimsoll/0.1.0\r\nAccept: */*\r\nContent-Length: 27\r\n\r\n{\"name\":\"J\u{e4}\\\"r k\",\"id\":17}"
    );
}

#[test]
fn the_length_is_correct_for_bodies_of_every_size() {
    let request = with_body(ask("POST", literal("/")), text("$0", Escape::None));
    let form = form(&request);
    for bytes in [0, 1, 9, 10, 11, 99, 100, 12_345] {
        let out = User::with(&[&"x".repeat(bytes)]).text(&form, None);
        let (head, body) = out.split_once("\r\n\r\n").expect("a head ends");
        assert!(head.ends_with(&format!("\r\nContent-Length: {bytes}")), "{head}");
        assert_eq!(body.len(), bytes);
    }
}

#[test]
fn a_request_is_appended_after_others() {
    let request = with_body(ask("POST", text("/$0", Escape::Percent)), text("$0", Escape::None));
    let mut out = b"before".to_vec();
    User::with(&["v"]).render(&form(&request), None, &mut out).expect("the variable is set");
    assert!(out.starts_with(b"beforePOST /v HTTP/1.1\r\n") && out.ends_with(b"Content-Length: 1\r\n\r\nv"));
}

#[test]
fn bodies_are_bytes() {
    let bytes: Vec<u8> = (0..=255).collect();
    let mut body = Text::literal(&bytes);
    body.parts.extend(text("$0", Escape::None).parts);
    for body in [Text::literal(&bytes), body] {
        let request = with_body(ask("POST", literal("/up")), body);
        let mut out = Vec::new();
        User::with(&[""]).render(&form(&request), None, &mut out).expect("the variable is set");
        assert!(out.ends_with(&[&b"Content-Length: 256\r\n\r\n"[..], &bytes].concat()));
    }
}

#[test]
fn a_value_cannot_smuggle_a_header_or_a_request() {
    let header = with_headers(ask("GET", literal("/")), &[("X-A", text("a$0", Escape::None))]);
    for value in ["x\r\nEvil: 1", "x\ny", "x\ry", "x\0y", "x\u{1b}y", "\u{7f}"] {
        assert_eq!(refused(&header, value), Unfilled::Unsendable, "{value:?}");
    }
    let path = ask("GET", text("/a$0", Escape::None));
    for value in [" HTTP/1.1\r\nX: y", " ", "\t", "\n", "#top", "\u{e4}", "\0"] {
        assert_eq!(refused(&path, value), Unfilled::Unsendable, "{value:?}");
    }
    let open = ask("GET", text("$0", Escape::None));
    for value in ["http://elsewhere.example/", "items", "*", ""] {
        assert_eq!(refused(&open, value), Unfilled::Unsendable, "{value:?}");
    }
    // The counterparts that may be sent.
    assert!(rendered(&header, &["\tb \u{e4}:;,"]).contains("\r\nX-A: a\tb \u{e4}:;,\r\n"));
    assert!(rendered(&path, &["?q=%20&b=/../'"]).starts_with("GET /a?q=%20&b=/../' HTTP"));
    assert!(rendered(&open, &["/items?n=1"]).starts_with("GET /items?n=1 HTTP"));
}

/// Returns why the request was not rendered. Nothing of it may remain in the buffer.
fn refused(ask: &Ask, value: &str) -> Unfilled {
    let mut out = b"before".to_vec();
    let reason = User::with(&[value]).render(&form(ask), None, &mut out).expect_err("it may not be sent");
    assert_eq!(out, b"before");
    reason
}

#[test]
fn a_placeholder_without_a_value_renders_nothing() {
    for request in [
        ask("GET", text("/a/$1", Escape::Percent)),
        with_headers(ask("GET", literal("/")), &[("X", text("$1", Escape::None))]),
        with_body(ask("POST", literal("/")), text("a$1", Escape::None)),
    ] {
        assert_eq!(refused(&request, "only the first is set"), Unfilled::Missing(Placeholder::Var(1)));
    }
}

#[test]
fn a_request_that_can_never_be_sent_is_rejected_before_the_load() {
    let get = || ask("GET", literal("/"));
    let table = [
        (ask("GE T", literal("/")), "method"),
        (ask("GET", literal("")), "the path is empty"),
        (ask("GET", literal("items")), "path `items` must begin with `/`"),
        (ask("GET", literal("/a b")), "a space"),
        (ask("GET", literal("/a#b")), "#"),
        (with_headers(get(), &[("X Y", literal("1"))]), "header name"),
        (with_headers(get(), &[("X", literal("1\r\nY: 2"))]), "carriage return"),
        (with_headers(get(), &[("X", text("$0\n", Escape::None))]), "line feed"),
        (with_headers(get(), &[("Connection", text("$0", Escape::None))]), "`Connection`"),
    ];
    for (ask, part) in table {
        let sentence = Form::compile(&ask, &site()).err().expect("it is rejected");
        assert!(sentence.contains(part), "{sentence}");
    }
    assert!(Form::compile(&ask("OPTIONS", literal("*")), &site()).is_ok());
}

#[test]
fn a_stream_accepts_events_unless_its_headers_say_otherwise() {
    let mut request = ask("GET", literal("/feed"));
    request.stream = Some(Box::new(Stream::default()));
    assert!(rendered(&request, &[]).contains("\r\nAccept: text/event-stream\r\n"));
    let request = with_headers(request, &[("accept", literal("a/b"))]);
    assert!(rendered(&request, &[]).contains("\r\naccept: a/b\r\n"));
    assert!(!rendered(&request, &[]).contains("event-stream"));
}

#[test]
fn a_reopened_stream_sends_its_last_event_id() {
    let request =
        with_headers(ask("GET", literal("/feed")), &[("last-event-id", literal("0")), ("X", literal("1"))]);
    let mut out = b"before".to_vec();
    User::new().render(&form(&request), None, &mut out).expect("there are no holes");
    for id in ["41", "42"] {
        set_header(&mut out, 6, "Last-Event-ID", id.as_bytes()).expect("a plain id may be sent");
    }
    let kept = out.clone();
    assert_eq!(set_header(&mut out, 6, "Last-Event-ID", b"4\r\n2"), Err(Unfilled::Unsendable));
    assert_eq!(out, kept);
    assert_eq!(
        String::from_utf8_lossy(&out),
        "beforeGET /feed HTTP/1.1\r\nHost: shop.example:8080\r\nX: 1\r\nUser-Agent: plimsoll/0.1.0\r\nAccept: */*\r\n\
         Last-Event-ID: 42\r\n\r\n"
    );
}

#[test]
fn cookies_of_the_user_follow_those_of_the_script_in_one_line() {
    let mut jar = CookieJar::new();
    let origin = form(&ask("GET", literal("/"))).origin().clone();
    let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/in\r\n\r\n";
    jar.take(Head::new(head), b"/", ask_common::NOW_NS, &origin);
    let line = |request: &Ask, values: &[&str]| {
        let out = User::with(values).text(&form(request), Some(&jar));
        let lines: Vec<_> =
            out.lines().filter(|line| line.starts_with("Cookie: ")).map(str::to_owned).collect();
        assert!(lines.len() <= 1 && out.ends_with("\r\n\r\n"), "{out}");
        lines.concat()
    };
    assert_eq!(line(&ask("GET", literal("/")), &[]), "Cookie: a=1");
    assert_eq!(line(&ask("GET", literal("/in?x=1")), &[]), "Cookie: b=2; a=1");
    assert_eq!(line(&ask("GET", text("/i$0", Escape::Percent)), &["n"]), "Cookie: b=2; a=1");
    let own = |value| with_headers(ask("GET", literal("/in")), &[("Cookie", value), ("X", literal("1"))]);
    assert_eq!(line(&own(literal("c=3")), &[]), "Cookie: c=3; b=2; a=1");
    assert_eq!(line(&own(text("a=$0", Escape::None)), &["mine"]), "Cookie: a=mine; b=2");
    assert_eq!(line(&own(text("$0", Escape::None)), &["x=1; b=9"]), "Cookie: x=1; b=9; a=1");
    let two = with_headers(
        ask("GET", literal("/")),
        &[("Cookie", literal("x=1")), ("X", literal("1")), ("cookie", literal("y=2"))],
    );
    assert_eq!(line(&two, &[]), "Cookie: x=1; y=2; a=1");
    assert!(User::new().text(&form(&two), None).contains("\r\nCookie: x=1; y=2\r\nX: 1\r\n"));
    let before = User::new().text(&form(&ask("GET", literal("/"))), None);
    assert_eq!(User::new().text(&form(&ask("GET", literal("/"))), Some(&CookieJar::new())), before);
}
