//! Redirects lead where RFC 3986 and RFC 9110 say, and never to origins outside the plan.

use crate::ask_common::{NOW_NS, User, ask, form, literal, site, text, with_body, with_headers};
use plimsoll_plan::head::Head;
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::Escape;
use plimsoll_script::ask::{CookieJar, Form, Next, Origin, Redirect, Site};

fn answer(status: u16, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Moved\r\nServer: x\r\n{headers}\r\n").into_bytes()
}

fn followed(form: &Form, sent: &str, status: u16, headers: &str, jar: Option<&CookieJar>) -> (Next, String) {
    followed_among(&[site()], form, (sent, 0), &answer(status, headers), jar)
}

/// Follows the redirect of a request `sent` to one of the sites.
fn followed_among(
    sites: &[Site],
    form: &Form,
    (sent, from): (&str, u16),
    head: &[u8],
    jar: Option<&CookieJar>,
) -> (Next, String) {
    let mut out = Vec::new();
    let status = String::from_utf8_lossy(&head[9..12]).parse().expect("a status");
    let redirect = Redirect { status, head: Head::new(head), sent: sent.as_bytes(), from };
    let next = form.follow(&redirect, sites, jar, NOW_NS, &mut out);
    (next, String::from_utf8(out).expect("the test's requests are text"))
}

/// Returns the new target of a GET to `path`; `stay` or `elsewhere` if there is none.
fn target_at(site: &Site, path: &str, location: &str) -> String {
    let form = Form::compile(&ask("GET", literal(path)), site).expect("a plain request");
    let sent = User::new().text(&form, None);
    let head = answer(302, &format!("Location: {location}\r\n"));
    let (next, out) = followed_among(std::slice::from_ref(site), &form, (&sent, 0), &head, None);
    match next {
        Next::Stay => "stay".into(),
        Next::Elsewhere => "elsewhere".into(),
        Next::Follow { .. } => {
            let line = out.lines().next().expect("a request line");
            line.trim_start_matches("GET ").trim_end_matches(" HTTP/1.1").to_owned()
        }
    }
}

#[test]
fn references_are_resolved_against_the_request_that_was_answered() {
    let table = [
        // Absolute references to the same origin.
        ("http://shop.example:8080/x?y#z", "/x?y"),
        ("HTTP://SHOP.Example:08080/x", "/x"),
        ("http://user:pw@shop.example:8080/x", "/x"),
        ("http://a@b@shop.example:8080/x", "/x"),
        ("http://shop.example:8080", "/"),
        ("http://shop.example:8080?q", "/?q"),
        ("//shop.example:8080/x", "/x"),
        // Relative references: a selection of the examples in RFC 3986 section 5.4.
        ("/x/y?z", "/x/y?z"),
        ("x", "/b/c/x"),
        ("./x", "/b/c/x"),
        ("x/", "/b/c/x/"),
        ("?y", "/b/c/d;p?y"),
        ("x?y=a/../b", "/b/c/x?y=a/../b"),
        ("", "/b/c/d;p?q"),
        ("#top", "/b/c/d;p?q"),
        (";x", "/b/c/;x"),
        (".", "/b/c/"),
        ("./", "/b/c/"),
        ("..", "/b/"),
        ("../x", "/b/x"),
        ("../..", "/"),
        ("../../x", "/x"),
        ("../../../../x", "/x"),
        ("/./x/../y", "/y"),
        ("/x/y/..", "/x/"),
        ("x.", "/b/c/x."),
        ("..x", "/b/c/..x"),
        ("./../x/./y/../z", "/b/x/z"),
        ("/a//b/..", "/a//"),
        ("/go?to=http://other.example/", "/go?to=http://other.example/"),
        // Characters that a request line cannot contain are encoded.
        ("/a b\u{e4}?c d", "/a%20b%C3%A4?c%20d"),
    ];
    for (location, expected) in table {
        assert_eq!(target_at(&site(), "/b/c/d;p?q", location), expected, "{location:?}");
    }
    assert_eq!(target_at(&site(), "/", "x"), "/x");
    assert_eq!(target_at(&site(), "/?q=/a/b", "x"), "/x");
    assert_eq!(target_at(&site(), "/a/", "?n=2"), "/a/?n=2");
}

#[test]
fn redirects_to_other_hosts_are_not_followed() {
    for location in [
        "http://shop.example/x",
        "http://shop.example:8081/x",
        "https://shop.example:8080/x",
        "http://shop.example.evil:8080/",
        "http://shop.example:8080@evil.example/",
        "//evil.example:8080/x",
        "//",
        "http:///x",
        "http:/x",
        "http:x",
        "mailto:a@b",
        "javascript:0",
        "http://shop.example:99999/",
        "http://shop.example:+8080/",
        "http://[::1]:8080/",
    ] {
        assert_eq!(target_at(&site(), "/a", location), "elsewhere", "{location:?}");
    }
    for location in ["/a\u{1}b", "/a\tb"] {
        assert_eq!(target_at(&site(), "/a", location), "stay", "{location:?}");
    }
}

#[test]
fn the_default_port_may_be_omitted() {
    let usual = |host: &str, tls| Site { host: host.into(), tls, ..site() };
    for (host, tls, location, expected) in [
        ("shop.example", false, "http://shop.example:80/x", "/x"),
        ("shop.example", false, "http://shop.example:/x", "/x"),
        ("shop.example", false, "http://shop.example:443/x", "elsewhere"),
        ("shop.example", true, "https://shop.example:443/x", "/x"),
        ("shop.example", true, "http://shop.example/x", "elsewhere"),
        ("shop.example", true, "//shop.example/x", "/x"),
        ("[::1]:9000", false, "http://[::1]:9000/x", "/x"),
        ("[::1]", false, "http://[::1]:80/x", "/x"),
        ("[::1]", false, "http://[::2]/x", "elsewhere"),
    ] {
        assert_eq!(target_at(&usual(host, tls), "/a", location), expected, "{host} {location}");
    }
}

#[test]
fn the_name_in_a_host_header_of_the_script_is_the_same_origin() {
    let request = with_headers(ask("GET", literal("/")), &[("Host", literal("www.example"))]);
    let form = form(&request);
    let sent = User::new().text(&form, None);
    for location in ["http://www.example/x", "http://shop.example:8080/x"] {
        let (next, out) = followed(&form, &sent, 301, &format!("location: {location}\r\n"), None);
        assert_eq!(next, Next::Follow { head_only: false, to: 0 });
        assert!(out.starts_with("GET /x HTTP/1.1\r\nHost: www.example\r\n"), "{out}");
    }
    assert_eq!(
        followed(&form, &sent, 301, "Location: http://www.example:8080/\r\n", None).0,
        Next::Elsewhere
    );
}

#[test]
fn the_method_changes_as_in_browsers() {
    let body_goes = "";
    let table = [
        // method, status, new method, new body
        ("GET", 301, "GET", "hello"),
        ("GET", 303, "GET", "hello"),
        ("POST", 301, "GET", body_goes),
        ("POST", 302, "GET", body_goes),
        ("POST", 303, "GET", body_goes),
        ("PUT", 301, "PUT", "hello"),
        ("PUT", 302, "PUT", "hello"),
        ("PUT", 303, "GET", body_goes),
        ("DELETE", 303, "GET", body_goes),
        ("HEAD", 303, "HEAD", "hello"),
        ("HEAD", 302, "HEAD", "hello"),
        ("POST", 307, "POST", "hello"),
        ("POST", 308, "POST", "hello"),
    ];
    for (method, status, new_method, body) in table {
        let request = with_headers(
            ask(method, literal("/old")),
            &[
                ("Authorization", text("Bearer $s", Escape::None)),
                ("Content-Type", literal("text/plain")),
                ("X-Own", literal("1")),
                ("content-language", literal("de")),
            ],
        );
        let form = form(&with_body(request, text("h$0", Escape::None)));
        let sent = User::with(&["ello"]).text(&form, None);
        let (next, out) = followed(&form, &sent, status, "Location: /new\r\n", None);
        assert_eq!(next, Next::Follow { head_only: method == "HEAD", to: 0 }, "{method} {status}");
        let kept = |line| if body.is_empty() { "" } else { line };
        let expected = format!(
            "{new_method} /new HTTP/1.1\r\nHost: shop.example:8080\r\nAuthorization: Bearer s3cret\r\n{}X-Own: 1\r\n{}\
             User-Agent: plimsoll/0.1.0\r\nAccept: */*\r\n{}\r\n{body}",
            kept("Content-Type: text/plain\r\n"),
            kept("content-language: de\r\n"),
            kept("Content-Length: 5\r\n"),
        );
        assert_eq!(out, expected, "{method} {status}");
    }
}

#[test]
fn a_chain_continues_from_the_bytes_that_were_sent() {
    let form = form(&ask("POST", literal("/a/b")));
    let sent = User::new().text(&form, None);
    let (_, second) = followed(&form, &sent, 303, "Location: c/d\r\n", None);
    let (_, third) = followed(&form, &second, 301, "Location: ../e\r\n", None);
    assert_eq!(
        third,
        "GET /a/e HTTP/1.1\r\nHost: shop.example:8080\r\nUser-Agent: plimsoll/0.1.0\r\nAccept: */*\r\n\r\n"
    );
}

#[test]
fn a_response_that_is_not_a_redirect_is_judged_itself() {
    let form = form(&ask("GET", literal("/")));
    let sent = User::new().text(&form, None);
    for (status, headers) in [
        (200, "Location: /x\r\n"),
        (201, "Location: /x\r\n"),
        (300, "Location: /x\r\n"),
        (304, "Location: /x\r\n"),
        (305, "Location: /x\r\n"),
        (302, "Content-Location: /x\r\n"),
    ] {
        assert_eq!(followed(&form, &sent, status, headers, None), (Next::Stay, String::new()), "{status}");
    }
    let mut out = b"before".to_vec();
    let head = answer(302, "Location: //evil.example/\r\n");
    let redirect = Redirect { status: 302, head: Head::new(&head), sent: sent.as_bytes(), from: 0 };
    assert_eq!(form.follow(&redirect, &[site()], None, NOW_NS, &mut out), Next::Elsewhere);
    assert_eq!(out, b"before", "nothing of an unsent request may remain");
}

/// The `Cookie` lines of the request after a redirect to `/new` whose response sets cookies in `headers`.
fn cookies_after(request: &Ask, values: &[&str], jar: &mut CookieJar, headers: &str) -> String {
    let form = form(request);
    let sent = User::with(values).text(&form, Some(jar));
    let headers = format!("Location: /new\r\n{headers}");
    jar.take(Head::new(&answer(302, &headers)), b"/old", NOW_NS, form.origin());
    let (_, out) = followed(&form, &sent, 302, &headers, Some(jar));
    assert!(out.ends_with("\r\n\r\n") && out.matches("\r\n\r\n").count() == 1, "{out:?}");
    out.lines().filter(|line| line.to_ascii_lowercase().starts_with("cookie")).collect::<Vec<_>>().join("|")
}

#[test]
fn cookies_are_selected_again_for_the_new_path() {
    let filled = |form: &Form, cookies: &str| {
        let mut jar = CookieJar::new();
        jar.take(Head::new(&answer(200, cookies)), b"/old", NOW_NS, form.origin());
        jar
    };
    let plain = ask("GET", literal("/old"));
    let form = form(&plain);
    let session = "Set-Cookie: s=1; Path=/\r\n";
    let changed = "Set-Cookie: s=2; Path=/\r\n";
    let taken_back = "Set-Cookie: s=; Max-Age=0; Path=/\r\n";
    assert_eq!(cookies_after(&plain, &[], &mut CookieJar::new(), session), "Cookie: s=1");
    assert_eq!(cookies_after(&plain, &[], &mut filled(&form, session), changed), "Cookie: s=2");
    assert_eq!(cookies_after(&plain, &[], &mut filled(&form, session), taken_back), "");
    let bound = "Set-Cookie: o=1; Path=/old\r\nSet-Cookie: n=2; Path=/new\r\n";
    assert_eq!(cookies_after(&plain, &[], &mut filled(&form, bound), ""), "Cookie: n=2");

    let own = with_headers(plain.clone(), &[("Cookie", text("s=mine; t=$0", Escape::None))]);
    assert_eq!(cookies_after(&own, &["9"], &mut filled(&form, ""), ""), "Cookie: s=mine; t=9");
    assert_eq!(
        cookies_after(&own, &["9"], &mut filled(&form, bound), session),
        "Cookie: s=mine; t=9; n=2",
        "the cookies of the script stay unchanged"
    );
    let hidden = with_headers(plain, &[("cookie", text("$0", Escape::None))]);
    assert_eq!(
        cookies_after(&hidden, &["h=1; i"], &mut filled(&form, session), changed),
        "Cookie: h=1; i; s=2"
    );
}

/// The shop, its sign-in over TLS and its pictures.
fn sites() -> Vec<Site> {
    let at = |number, host: &str, tls| Site { number, host: host.into(), tls, ..site() };
    vec![site(), at(1, "login.shop.example", true), at(2, "127.0.0.3:9000", false)]
}

#[test]
fn another_origin_of_the_plan_receives_no_secret_of_this_one() {
    let request = with_headers(
        ask("POST", literal("/old")),
        &[
            ("Host", literal("www.example")),
            ("Authorization", text("Bearer $s", Escape::None)),
            ("Cookie", literal("own=1")),
            ("X-Own", literal("1")),
        ],
    );
    let form = form(&with_body(request, literal("hello")));
    let mut jar = CookieJar::new();
    jar.take(
        Head::new(&answer(
            200,
            "Set-Cookie: here=1; Path=/\r\nSet-Cookie: all=2; Path=/; Domain=shop.example\r\n",
        )),
        b"/",
        NOW_NS,
        form.origin(),
    );
    let sent = User::new().text(&form, Some(&jar));
    assert!(sent.contains("Cookie: own=1; here=1; all=2\r\n"), "{sent}");
    for location in ["https://login.shop.example/in", "https://LOGIN.shop.example:443/in"] {
        let head = answer(307, &format!("Location: {location}\r\n"));
        let (next, out) = followed_among(&sites(), &form, (&sent, 0), &head, Some(&jar));
        assert_eq!(next, Next::Follow { head_only: false, to: 1 });
        assert_eq!(
            out,
            "POST /in HTTP/1.1\r\nHost: login.shop.example\r\nX-Own: 1\r\nUser-Agent: plimsoll/0.1.0\r\n\
             Accept: */*\r\nContent-Length: 5\r\nCookie: all=2\r\n\r\nhello"
        );
        // On that origin, `/x` is a path of that origin, and the way back changes the origin again.
        let (next, on) =
            followed_among(&sites(), &form, (&out, 1), &answer(302, "Location: /x\r\n"), Some(&jar));
        assert_eq!(next, Next::Follow { head_only: false, to: 1 });
        assert!(on.starts_with("GET /x HTTP/1.1\r\nHost: login.shop.example\r\n"), "{on}");
        let back = answer(302, "Location: http://shop.example:8080/home\r\n");
        let (next, home) = followed_among(&sites(), &form, (&on, 1), &back, Some(&jar));
        assert_eq!(next, Next::Follow { head_only: false, to: 0 });
        assert!(home.starts_with("GET /home HTTP/1.1\r\nHost: shop.example:8080\r\n"), "{home}");
        assert!(home.contains("Cookie: here=1; all=2\r\n"), "{home}");
    }
    for location in
        ["http://login.shop.example/", "https://127.0.0.3:9000/", "http://127.0.0.3/", "//pictures/"]
    {
        let head = answer(307, &format!("Location: {location}\r\n"));
        let (next, _) = followed_among(&sites(), &form, (&sent, 0), &head, None);
        assert_eq!(next, Next::Elsewhere, "{location}: not an origin of the plan");
    }
}

#[test]
fn cookies_are_sent_only_to_the_origin_that_set_them() {
    let sites = sites();
    let origins: Vec<Origin> = sites.iter().map(Origin::new).collect();
    let sent = |jar: &CookieJar, to: usize| {
        let mut out = Vec::new();
        jar.header(b"/", &origins[to], NOW_NS, &mut out);
        String::from_utf8(out).expect("text")
    };
    let set = |jar: &mut CookieJar, by: usize, cookie: &str| {
        jar.take(Head::new(&answer(200, &format!("Set-Cookie: {cookie}\r\n"))), b"/", NOW_NS, &origins[by]);
    };
    let mut jar = CookieJar::new();
    set(&mut jar, 0, "a=shop");
    set(&mut jar, 1, "a=login");
    set(&mut jar, 1, "b=both; Domain=shop.example");
    set(&mut jar, 1, "c=stolen; Domain=127.0.0.3");
    set(&mut jar, 2, "d=pictures; Domain=0.0.3");
    assert_eq!([sent(&jar, 0), sent(&jar, 1), sent(&jar, 2)], ["a=shop; b=both", "a=login; b=both", ""]);
    set(&mut jar, 2, "a=pictures");
    set(&mut jar, 0, "b=; Max-Age=0; Domain=shop.example");
    assert_eq!([sent(&jar, 0), sent(&jar, 1), sent(&jar, 2)], ["a=shop", "a=login", "a=pictures"]);
}
