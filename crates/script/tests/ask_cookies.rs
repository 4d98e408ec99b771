//! A user's cookies are kept and sent back according to RFC 6265.

use crate::ask_common::{NOW_NS, ask, form, literal, site, text, with_headers};
use plimsoll_plan::head::Head;
use plimsoll_plan::value::Escape;
use plimsoll_script::ask::{CookieJar, Origin, Site};

const DAY_NS: u64 = 86_400 * 1_000_000_000;

fn origin() -> Origin {
    Origin::new(&site())
}

fn take(jar: &mut CookieJar, path: &str, headers: &[&str]) {
    let lines: String = headers.iter().map(|value| format!("Set-Cookie: {value}\r\n")).collect();
    let head = format!("HTTP/1.1 200 OK\r\nDate: x\r\n{lines}Content-Length: 0\r\n\r\n");
    jar.take(Head::new(head.as_bytes()), path.as_bytes(), NOW_NS, &origin());
}

fn sent_at(jar: &CookieJar, path: &str, tls: bool, unix_ns: u64) -> String {
    let mut out = b"Cookie: ".to_vec();
    assert_eq!(
        jar.header(path.as_bytes(), &Origin::new(&Site { tls, ..site() }), unix_ns, &mut out),
        out.len() > 8
    );
    String::from_utf8_lossy(&out[8..]).into_owned()
}

fn sent(jar: &CookieJar, path: &str) -> String {
    sent_at(jar, path, false, NOW_NS)
}

/// Returns the cookies that are sent to `/` after one response to `/a/b`.
fn after(header: &str) -> String {
    let mut jar = CookieJar::new();
    take(&mut jar, "/a/b", &[header]);
    sent(&jar, "/a/x")
}

#[test]
fn names_and_values_are_sent_back_unchanged() {
    for (header, expected) in [
        ("a=1", "a=1"),
        ("  a  =  1  ;  Secureish ", "a=1"),
        ("a=\"q r\"", "a=\"q r\""),
        ("a=b=c", "a=b=c"),
        ("a=", "a="),
        ("a=1, b=2", "a=1, b=2"),
        ("a=1;;;HttpOnly;SameSite=Lax;Unknown=x", "a=1"),
        ("A=\u{e4}", "A=\u{e4}"),
        // These are not cookies.
        ("", ""),
        ("a", ""),
        ("=1", ""),
        ("; a=1", ""),
        ("a=1\u{1}", ""),
    ] {
        assert_eq!(after(header), expected, "{header:?}");
    }
    assert_eq!(after(&format!("a={}", "x".repeat(4093))), format!("a={}", "x".repeat(4093)));
    assert_eq!(
        after(&format!("a={}", "x".repeat(4094))),
        "",
        "too long for a cookie, including its path `/a`"
    );
}

#[test]
fn header_names_ignore_case_and_folded_lines_inject_nothing() {
    let mut jar = CookieJar::new();
    let head = b"HTTP/1.1 200 OK\r\nset-COOKIE:a=1\r\nSet-Cookie: b=2\r\n X: y\r\nSet-Cookie2: c=3\r\n\r\n\
                 Set-Cookie: d=4\r\n";
    jar.take(Head::new(head), b"/", NOW_NS, &origin());
    assert_eq!(sent(&jar, "/"), "a=1");
}

#[test]
fn a_cookie_is_sent_only_below_its_path() {
    for (request, attribute, yes, no) in [
        ("/a/b", "", &["/a", "/a/", "/a/z?q=1", "/a?q"][..], &["/", "/ab", "/b", "/?/a"][..]),
        ("/a/b?c=/d/e", "", &["/a/x"], &["/"]),
        ("/a", "", &["/", "/b", "*"], &[]),
        ("/", "", &["/", "/b"], &[]),
        ("*", "", &["/", "/b"], &[]),
        ("/a/b", "; Path=/", &["/", "/x"], &[]),
        ("/a/b", "; path=/c", &["/c", "/c/d"], &["/a", "/cd", "*"]),
        ("/a/b", "; Path=/c/", &["/c/", "/c/d"], &["/c", "/"]),
        ("/a/b", "; Path=c", &["/a"], &["/c", "/"]),
        ("/a/b", "; Path=", &["/a"], &["/"]),
        ("/a/b", "; Path=/c; Path=/d", &["/d"], &["/c"]),
    ] {
        let mut jar = CookieJar::new();
        take(&mut jar, request, &[&format!("k=v{attribute}")]);
        for path in yes {
            assert_eq!(sent(&jar, path), "k=v", "{request} {attribute} {path}");
        }
        for path in no {
            assert_eq!(sent(&jar, path), "", "{request} {attribute} {path}");
        }
    }
}

#[test]
fn longer_paths_are_sent_first_and_then_older_cookies() {
    let mut jar = CookieJar::new();
    take(&mut jar, "/", &["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/x/y", "e=5; Path=/"]);
    assert_eq!(sent(&jar, "/x/y"), "b=2; d=4; c=3; a=1; e=5");
    take(&mut jar, "/", &["a=new; Path=/", "b=longer than it was; Path=/x/y"]);
    assert_eq!(sent(&jar, "/x/y"), "b=longer than it was; d=4; c=3; a=new; e=5", "it keeps its age");
    take(&mut jar, "/", &["a=other; Path=/x"]);
    assert_eq!(sent(&jar, "/x"), "c=3; a=other; a=new; e=5", "another path is another cookie");
    assert_eq!(jar.value(b"a"), Some(&b"other"[..]));
    assert_eq!((jar.value(b"A"), jar.value(b"")), (None, None));
}

#[test]
fn a_cookie_expires_when_the_server_says() {
    // NOW is Sun, 06 Nov 1994 08:49:37 GMT.
    for (attributes, now, a_day_later) in [
        ("", true, true),
        ("; Expires=Sun, 06 Nov 1994 08:49:38 GMT", true, false),
        ("; Expires=Sun, 06 Nov 1994 08:49:37 GMT", false, false),
        ("; expires=Monday, 07-Nov-94 08:49:36 GMT", true, false),
        ("; Expires=Mon Nov  7 08:49:38 1994", true, true),
        ("; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false, false),
        ("; Expires=Thu, 01-Jan-1601 00:00:00 GMT", false, false),
        ("; Expires=Fri, 31 Dec 9999 23:59:59 GMT", true, true),
        ("; Expires=7 nov 1994 8:49:36", true, false),
        ("; Expires=08:49:36 1994 November 7th", true, false),
        ("; Expires=29 Feb 1992 00:00:00", false, false),
        ("; Expires=29 Feb 1900 00:00:00", true, true),
        // Two-digit years: 70 and above belong to the last century.
        ("; Expires=Sun, 06-Nov-69 08:49:37 GMT", true, true),
        ("; Expires=Sun, 06-Nov-70 08:49:37 GMT", false, false),
        // Invalid dates are ignored.
        ("; Expires=0", true, true),
        ("; Expires=", true, true),
        ("; Expires=30 Feb 1990 00:00:00", true, true),
        ("; Expires=29 Feb 1990 00:00:00", true, true),
        ("; Expires=01 Jan 1990 24:00:00", true, true),
        ("; Expires=01 Jan 1990 00:60:00", true, true),
        ("; Expires=01 Jan 1600 00:00:00", true, true),
        ("; Expires=01 Jan 1990", true, true),
        ("; Max-Age=86400", true, false),
        ("; Max-Age=86401", true, true),
        ("; Max-Age=0", false, false),
        ("; Max-Age=-1", false, false),
        ("; Max-Age=99999999999999999999", true, true),
        ("; Max-Age=-99999999999999999999", false, false),
        ("; Max-Age=1x", true, true),
        ("; Max-Age=", true, true),
        ("; Max-Age=-", true, true),
        // Max-Age takes precedence over Expires, in any order.
        ("; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true, false),
        ("; Expires=Fri, 31 Dec 9999 23:59:59 GMT; Max-Age=0", false, false),
    ] {
        let mut jar = CookieJar::new();
        take(&mut jar, "/", &[&format!("k=v{attributes}")]);
        assert_eq!(!sent(&jar, "/").is_empty(), now, "{attributes} now");
        assert_eq!(jar.value(b"k").is_some(), now, "{attributes}: an expired cookie is not kept");
        let later = sent_at(&jar, "/", false, NOW_NS + DAY_NS);
        assert_eq!(!later.is_empty(), a_day_later, "{attributes} a day later");
    }
}

#[test]
fn an_expiry_in_the_past_removes_a_cookie() {
    let mut jar = CookieJar::new();
    take(&mut jar, "/", &["a=1", "b=2", "a=; Max-Age=0; Path=/other"]);
    assert_eq!(sent(&jar, "/"), "a=1; b=2", "a different path, so a different cookie");
    take(&mut jar, "/", &["a=gone; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]);
    assert_eq!(sent(&jar, "/"), "b=2");
    jar.clear();
    assert_eq!((sent(&jar, "/").as_str(), jar.value(b"b")), ("", None));
}

#[test]
fn secure_cookies_are_sent_only_over_tls() {
    let mut jar = CookieJar::new();
    take(&mut jar, "/", &["a=1; Secure", "b=2; secure=anything", "c=3"]);
    assert_eq!(sent_at(&jar, "/", true, NOW_NS), "a=1; b=2; c=3");
    assert_eq!(sent_at(&jar, "/", false, NOW_NS), "c=3");
}

#[test]
fn a_cookie_for_a_foreign_domain_is_rejected() {
    let of = |host: &str, domain: &str| {
        let mut jar = CookieJar::new();
        let head = format!("HTTP/1.1 200 OK\r\nSet-Cookie: k=v; Domain={domain}\r\n\r\n");
        jar.take(
            Head::new(head.as_bytes()),
            b"/",
            NOW_NS,
            &Origin::new(&Site { host: host.into(), ..site() }),
        );
        jar.value(b"k").is_some()
    };
    for (host, domain, expected) in [
        ("www.shop.example:8080", "www.shop.example", true),
        ("www.shop.example:8080", "shop.example", true),
        ("www.shop.example", ".Shop.Example", true),
        ("www.shop.example", "", true),
        ("www.shop.example", "hop.example", false),
        ("www.shop.example", "x.www.shop.example", false),
        ("www.shop.example", "other.example", false),
        ("127.0.0.1:80", "127.0.0.1", true),
        ("127.0.0.1:80", "0.0.1", false),
        ("[::1]:80", "::1", true),
    ] {
        assert_eq!(of(host, domain), expected, "{domain} from {host}");
    }
    for (host, expected) in [("www.own.example:81", "k=v"), ("x.example", ""), ("$0", "k=v")] {
        let request = with_headers(ask("GET", literal("/")), &[("Host", text(host, Escape::None))]);
        let mut jar = CookieJar::new();
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: k=v; Domain=own.example\r\n\r\n";
        jar.take(Head::new(head), b"/", NOW_NS, form(&request).origin());
        assert_eq!(sent(&jar, "/"), expected, "a Host header of the script names the host: {host}");
    }
}

#[test]
fn a_user_keeps_fifty_cookies_and_drops_the_oldest() {
    let mut jar = CookieJar::new();
    for number in 0..50 {
        take(
            &mut jar,
            "/",
            &[&format!("c{number}={number}; Max-Age={}", if number == 7 { 1 } else { 1000 })],
        );
    }
    let lines = "HTTP/1.1 200 OK\r\nSet-Cookie: d=1\r\n\r\n";
    jar.take(Head::new(lines.as_bytes()), b"/", NOW_NS + 2_000_000_000, &origin());
    assert!(jar.value(b"c7").is_none() && jar.value(b"c0").is_some(), "an expired cookie is dropped first");
    take(&mut jar, "/", &["e=1; Path=/long/path"]);
    assert!(jar.value(b"c0").is_none() && jar.value(b"c1").is_some() && jar.value(b"e").is_some());
    take(&mut jar, "/", &["c1=again", "f=1"]);
    assert!(jar.value(b"c1").is_none(), "a new value does not renew its age");
    assert_eq!(sent(&jar, "/").split("; ").count(), 49, "50 are kept, one of them for another path");
}
