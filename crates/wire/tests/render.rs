//! A request contains the user's fields, plus the default ones that the user did not set and that servers need.

use plimsoll_wire::h1::{
    Ask, Request, body_at, check_header, check_method, check_target, has_line, put_chunks, render,
};

const GET: Request<'static> = Request {
    method: "GET",
    target: "/pick?n=1",
    host: "127.0.0.1:8080",
    headers: &[],
    body: None,
    http10: false,
    close: false,
    user_agent: "plimsoll/0.1.0",
};

fn text(request: &Request<'_>) -> String {
    let mut out = Vec::new();
    render(request, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_plain_get_says_what_every_server_wants_to_hear() {
    assert_eq!(
        text(&GET),
        "GET /pick?n=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: plimsoll/0.1.0\r\nAccept: */*\r\n\r\n"
    );
}

#[test]
fn a_body_follows_the_head_with_its_length() {
    let headers = headers(&[("Content-Type", "application/json")]);
    let post = Request { method: "POST", headers: &headers, body: Some(b"{\"a\":1}"), ..GET };
    assert_eq!(
        text(&post),
        "POST /pick?n=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\n\
         User-Agent: plimsoll/0.1.0\r\nAccept: */*\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
    );
}

#[test]
fn methods_that_promise_a_body_say_its_length_even_if_there_is_none() {
    for (method, says) in
        [("POST", true), ("PUT", true), ("PATCH", true), ("GET", false), ("HEAD", false), ("DELETE", false)]
    {
        assert_eq!(text(&Request { method, ..GET }).contains("Content-Length: 0\r\n"), says, "{method}");
    }
    assert!(text(&Request { body: Some(b""), ..GET }).contains("Content-Length: 0\r\n"));
}

#[test]
fn the_authors_headers_replace_ours_in_any_case() {
    let headers = headers(&[
        ("X-First", "1"),
        ("HOST", "shop.example"),
        ("user-agent", "me"),
        ("ACCEPT", "text/html"),
        ("content-LENGTH", "99"),
        ("connection", "upgrade"),
    ]);
    let request = Request { method: "POST", headers: &headers, body: Some(b"x"), close: true, ..GET };
    assert_eq!(
        text(&request),
        "POST /pick?n=1 HTTP/1.1\r\nHOST: shop.example\r\nX-First: 1\r\nuser-agent: me\r\nACCEPT: text/html\r\n\
         content-LENGTH: 99\r\nconnection: upgrade\r\n\r\nx"
    );
}

#[test]
fn a_body_in_the_authors_own_chunks_gets_no_length() {
    let headers = headers(&[("Transfer-Encoding", "chunked")]);
    let request = Request { method: "POST", headers: &headers, body: Some(b"0\r\n\r\n"), ..GET };
    assert!(!text(&request).contains("Content-Length"));
}

#[test]
fn the_end_of_the_connection_is_said_as_each_version_says_it() {
    let connection = |http10, close| {
        let text = text(&Request { http10, close, ..GET });
        let line = text.lines().find_map(|line| line.strip_prefix("Connection: ")).map(str::to_owned);
        (text.lines().next().map(|line| line.ends_with("HTTP/1.0")), line)
    };
    assert_eq!(connection(false, false), (Some(false), None));
    assert_eq!(connection(false, true), (Some(false), Some("close".to_owned())));
    assert_eq!(connection(true, false), (Some(true), Some("keep-alive".to_owned())));
    assert_eq!(connection(true, true), (Some(true), Some("close".to_owned())));
}

#[test]
fn the_session_is_told_what_the_request_says() {
    assert_eq!(GET.ask(), Ask::default());
    assert!(Request { method: "HEAD", ..GET }.ask().head_only);
    assert!(Request { http10: true, ..GET }.ask().http10);
    assert!(Request { close: true, ..GET }.ask().close);
    let closing = headers(&[("connection", "Upgrade, Close")]);
    assert!(Request { headers: &closing, ..GET }.ask().close);
    let keeping = headers(&[("Connection", "keep-alive")]);
    assert!(!Request { headers: &keeping, close: true, ..GET }.ask().close);
}

#[test]
fn rendering_appends() {
    let mut out = Vec::new();
    render(&GET, &mut out);
    let one = out.clone();
    render(&GET, &mut out);
    assert_eq!(out, [&one[..], &one[..]].concat());
}

#[test]
fn header_lines_that_would_be_two_are_refused_before_the_load() {
    for (name, value, says) in [
        ("", "x", "missing header name"),
        ("X Y", "x", "a space at byte 1"),
        ("X:", "x", "`:` at byte 1"),
        ("X\r\nY", "x", "a carriage return (CR) at byte 1"),
        ("Größe", "x", "`ö` at byte 2"),
        ("X", "a\r\nY: b", "a carriage return (CR) at byte 1"),
        ("X", "a\nY: b", "a line feed (LF) at byte 1"),
        ("X", "a\0", "a zero byte (NUL) at byte 1"),
        ("X", "\x1b[0m", "a control character (U+001B) at byte 0"),
    ] {
        let Err(sentence) = check_header(name, value) else { panic!("{name:?}: {value:?} was accepted") };
        assert!(sentence.contains(says) && sentence.lines().count() == 2, "{sentence}");
    }
    for (name, value) in [("X", ""), ("x-1_!#$%&'*+.^|~`", "a\tb"), ("X", "für alle")] {
        assert_eq!(check_header(name, value), Ok(()));
    }
}

#[test]
fn a_refused_value_is_not_repeated_because_it_may_be_a_secret() {
    let Err(sentence) = check_header("Authorization", "Bearer s3cret\n") else { panic!("was accepted") };
    assert!(!sentence.contains("s3cret") && sentence.contains("`Authorization`"));
}

#[test]
fn request_lines_that_would_be_two_are_refused_before_the_load() {
    for target in ["", "/a b", "/a\r\nX: y", "/ä", "/a#part", "/\x7f"] {
        assert!(check_target(target).is_err(), "{target:?}");
    }
    for target in ["/", "/a?b=c&d=%20", "*", "http://host/"] {
        assert_eq!(check_target(target), Ok(()));
    }
    for method in ["", "GE T", "GET\r\n", "GÉT"] {
        assert!(check_method(method).is_err(), "{method:?}");
    }
    for method in ["GET", "M-SEARCH", "purge"] {
        assert_eq!(check_method(method), Ok(()));
    }
}

#[test]
fn a_body_in_chunks_ends_with_an_empty_one() {
    let chunks = |body: &[u8], size| {
        let mut out = Vec::new();
        put_chunks(body, size, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(chunks(b"", 4), "0\r\n\r\n");
    assert_eq!(chunks(b"abcdefghi", 4), "4\r\nabcd\r\n4\r\nefgh\r\n1\r\ni\r\n0\r\n\r\n");
    assert_eq!(chunks(&[b'x'; 20], 20), format!("14\r\n{}\r\n0\r\n\r\n", "x".repeat(20)));
}

#[test]
fn a_rendered_request_shows_where_its_body_begins_and_which_lines_it_has() {
    let own = headers(&[("Expect", "100-continue")]);
    let whole = text(&Request { method: "POST", headers: &own, body: Some(b"\r\n\r\nbody"), ..GET });
    let (head, body) = whole.as_bytes().split_at(body_at(whole.as_bytes()));
    assert_eq!(body, b"\r\n\r\nbody");
    assert!(has_line(head, "Expect: 100-continue") && !has_line(head, "Expect: 100"));
}
