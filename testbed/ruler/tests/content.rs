//! Responses with configured content: text, headers, cookies, redirects, entity tags, compression; and the endpoints
//! for a login and a session.

use crate::common::{Ended, Ruler};
use std::io::Read;

#[test]
fn text_and_headers_are_as_configured() {
    let ruler = Ruler::start(&["--header", "X-Server: all"]);
    let mut client = ruler.connect();
    let answer = client.get("/?text=a%2Cb%0A1+2&content_type=text/csv&header=X-Shard:7&header=X-Shard:%208");
    assert_eq!(
        (answer.body.as_slice(), answer.header("Content-Type")),
        (b"a,b\n1 2".as_slice(), Some("text/csv"))
    );
    assert!(answer.head.contains("X-Server: all\r\nX-Shard: 7\r\nX-Shard: 8\r\n"), "{}", answer.head);
    let cookies = client.get("/?set_cookie=a%3D1%3B+Path%3D/&set_cookie=b=2%3B%20HttpOnly");
    assert!(
        cookies.head.contains("Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; HttpOnly\r\n"),
        "{}",
        cookies.head
    );
    ruler.command("set?header=&text=always");
    let plain = client.get("/");
    assert_eq!((plain.body.as_slice(), plain.header("X-Server")), (b"always".as_slice(), None));
}

#[test]
fn redirects_name_their_place() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    for (status, reason) in
        [(302, "Found"), (303, "See Other"), (307, "Temporary Redirect"), (308, "Permanent Redirect")]
    {
        let answer = client.get(&format!("/?status={status}&location=/x%3Fstatus%3D201"));
        assert!(answer.head.starts_with(&format!("HTTP/1.1 {status} {reason}\r\n")), "{}", answer.head);
        assert_eq!(answer.header("Location"), Some("/x?status=201"));
    }
}

#[test]
fn an_entity_tag_that_is_named_gives_304() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let first = client.get("/?etag=v1");
    assert_eq!((first.status, first.header("ETag")), (200, Some("\"v1\"")));
    for (given, status) in
        [("\"v1\"", 304), ("\"v0\", W/\"v1\"", 304), ("*", 304), ("\"v2\"", 200), ("v1", 200)]
    {
        let request = format!("GET /?etag=v1 HTTP/1.1\r\nIf-None-Match: {given}\r\n\r\n");
        let answer = client.send(&request).answer();
        assert_eq!((answer.status, answer.header("ETag")), (status, Some("\"v1\"")), "{given}");
        assert_eq!(answer.body.is_empty(), status == 304);
    }
}

#[test]
fn encodings_are_real_in_every_framing() {
    let ruler = Ruler::start(&[]);
    let plain = ruler.connect().get("/?body=300000").body;
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        for framing in ["length", "chunked&chunk=100", "close"] {
            let answer = ruler.connect().get(&format!("/?body=300000&encoding={encoding}&framing={framing}"));
            assert_eq!(answer.header("Content-Encoding"), Some(encoding));
            assert!(answer.body.len() < plain.len() / 10, "{encoding}: {}", answer.body.len());
            let mut decoded = Vec::new();
            let pressed = answer.body.as_slice();
            match encoding {
                "gzip" => flate2::read::GzDecoder::new(pressed).read_to_end(&mut decoded),
                "deflate" => flate2::read::ZlibDecoder::new(pressed).read_to_end(&mut decoded),
                "br" => brotli::Decompressor::new(pressed, 4096).read_to_end(&mut decoded),
                _ => zstd::Decoder::new(pressed).unwrap().read_to_end(&mut decoded),
            }
            .unwrap();
            assert!(decoded == plain, "{encoding} {framing}");
        }
    }
    let text = ruler.connect().get("/?text=hello&encoding=gzip").body;
    let mut decoded = String::new();
    flate2::read::GzDecoder::new(text.as_slice()).read_to_string(&mut decoded).unwrap();
    assert_eq!(decoded, "hello");
}

#[test]
fn a_compressed_body_can_break_off() {
    let ruler = Ruler::start(&[]);
    let whole = ruler.connect().get("/?body=300000&encoding=gzip").body;
    let mut client = ruler.connect();
    client.ask("/?body=300000&encoding=gzip&fault=close_mid_body").head();
    assert_eq!(client.rest(), (whole[..whole.len() / 2].to_vec(), Ended::Fin));
    // A content that is shorter than what is promised breaks off at its end.
    let mut client = ruler.connect();
    assert!(client.ask("/?text=hello&fault=close_mid_body").head().contains("Content-Length: 64\r\n"));
    assert_eq!(client.rest(), (b"hello".to_vec(), Ended::Fin));
}

#[test]
fn values_with_a_line_break_are_rejected() {
    let ruler = Ruler::start(&[]);
    for (query, word) in [
        ("header=X-A:1%0d%0aX-B:2", "control characters"),
        ("header=X-A", "name:value"),
        ("header=X%20A:1", "name:value"),
        ("set_cookie=a%0a", "control characters"),
        ("location=/%0d%0a", "control characters"),
        ("content_type=%00", "control characters"),
        ("etag=%22a%22", "without quotes"),
        ("encoding=lzma", "unknown encoding"),
        ("encoding=br&body=17m", "at most 16m"),
        ("keep_requests=3", "whole server"),
    ] {
        let answer = ruler.connect().get(&format!("/?{query}"));
        let body = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 400, "{query}");
        assert!(body.contains(word), "{query}: {body}");
    }
    assert_eq!(ruler.connect().get("/_test-server/set?keep_requests=all").status, 400);
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap().1.split_once(after).unwrap().0
}

#[test]
fn secure_accepts_only_tokens_of_this_ruler() {
    let (ruler, other) = (Ruler::start(&[]), Ruler::start(&[]));
    let mut client = ruler.connect();
    let issue = |ruler: &Ruler| {
        let body = String::from_utf8(ruler.connect().get("/token").body).unwrap();
        assert_eq!(body.matches("\"price\":").count(), 3, "{body}");
        between(&body, r#""token":""#, "\"").to_owned()
    };
    let tokens = [issue(&ruler), issue(&ruler)];
    assert_ne!(tokens[0], tokens[1]);
    let mut secure = |value: &str| {
        client.send(&format!("GET /secure HTTP/1.1\r\nAuthorization: {value}\r\n\r\n")).answer()
    };
    for (index, token) in tokens.iter().enumerate() {
        let answer = secure(&format!("Bearer {token}"));
        let user = format!(r#"{{"user":{{"id":{}}}}}"#, index + 1);
        assert_eq!((answer.status, String::from_utf8(answer.body).unwrap()), (200, user));
    }
    let strange = issue(&other);
    for wrong in [&strange, "0123456789abcdef", &tokens[0][1..], "", "+123456789abcdef"] {
        let answer = secure(&format!("Bearer {wrong}"));
        assert_eq!((answer.status, answer.header("WWW-Authenticate")), (401, Some("Bearer")), "{wrong}");
    }
    assert_eq!(secure(&format!("Basic {}", tokens[0])).status, 401);
    assert_eq!(ruler.connect().get("/secure").status, 401);
    let counts = ["tokens_issued", "secure_accepted", "secure_rejected"].map(|name| ruler.count(name));
    assert_eq!(counts, [2, 2, 7]);
}

#[test]
fn a_session_counts_by_its_cookie() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let first = client.get("/cart");
        assert_eq!(first.body, br#"{"count":1}"#);
        let cookie = first.header("Set-Cookie").unwrap();
        assert!(cookie.starts_with("sid=") && cookie.ends_with("; Path=/; HttpOnly"), "{cookie}");
        sessions.push(cookie.split(';').next().unwrap().to_owned());
    }
    for (session, count) in [(0, 2), (0, 3), (1, 2), (0, 4)] {
        let request = format!("GET /cart HTTP/1.1\r\nCookie: a=1; {}\r\n\r\n", sessions[session]);
        let answer = client.send(&request).answer();
        assert_eq!(answer.body, format!(r#"{{"count":{count}}}"#).into_bytes());
        assert_eq!(answer.header("Set-Cookie"), None);
    }
    let unknown = client.send("GET /cart HTTP/1.1\r\nCookie: sid=0123456789abcdef\r\n\r\n").answer();
    assert!(unknown.header("Set-Cookie").is_some());
    assert_eq!(ruler.count("carts_opened"), 3);
}
