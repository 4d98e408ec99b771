//! Login: the token, the cookie, and rejected requests.

use crate::client::Console;

#[test]
fn the_printed_token_opens_and_nothing_else_does() {
    let console = Console::start();
    let wrong = console.token.replace(|c: char| c.is_ascii_digit(), "a");
    for path in [
        "/",
        "/api/runs",
        "/?token=",
        &format!("/?token={wrong}"),
        &format!("/api/runs?token={}", console.token),
    ] {
        assert_eq!(console.send("GET", path, &[], "").status, 401, "{path}");
    }
    let reply = console.get("/api/state");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["version"], env!("CARGO_PKG_VERSION"));
    let entered = console.send("GET", &format!("/?token={}", console.token), &[], "");
    assert!(entered.header("location").is_some_and(|to| to.starts_with("/#key=")), "{}", entered.head);
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
}

#[test]
fn every_answer_carries_its_policy() {
    let console = Console::start();
    for reply in [console.get("/api/runs"), console.get("/nowhere"), console.send("GET", "/", &[], "")] {
        let policy = reply.header("content-security-policy").expect("a policy");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn another_name_for_this_machine_is_not_served() {
    let console = Console::start();
    let port = console.address.rsplit(':').next().unwrap();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1"] {
        let reply = console.send("GET", "/api/runs", &[("Host", host), ("Cookie", console.cookie())], "");
        assert_eq!(reply.status, 421, "{host}");
    }
    let host = format!("localhost:{port}");
    assert_eq!(
        console.send("GET", "/api/runs", &[("Host", &host), ("Cookie", console.cookie())], "").status,
        200
    );
}

#[test]
fn other_pages_and_other_kinds_of_content_change_nothing() {
    let console = Console::start();
    let origin = format!("http://{}", console.address);
    let cookie = ("Cookie", console.cookie());
    let json = ("Content-Type", "application/json");
    let key = ("X-Plimsoll-Key", console.key());
    let body = "{\"text\":\"a: 1\"}";
    for headers in [
        vec![cookie, key, json],
        vec![cookie, key, json, ("Origin", "http://evil.example")],
        vec![cookie, key, json, ("Origin", "null")],
        vec![cookie, key, ("Content-Type", "text/plain"), ("Origin", origin.as_str())],
    ] {
        assert_eq!(console.send("POST", "/api/check", &headers, body).status, 403, "{headers:?}");
    }
    assert_eq!(console.send("POST", "/api/check", &[key, json, ("Origin", &origin)], body).status, 401);
    let reply = console.send("POST", "/api/check", &[cookie, key, json, ("Origin", &origin)], body);
    assert_eq!((reply.status, reply.json()["is_valid"].as_bool()), (200, Some(false)));
    let large = format!("{{\"text\":\"{}\"}}", "a".repeat(1 << 20));
    assert_eq!(
        console.send("POST", "/api/check", &[cookie, key, json, ("Origin", &origin)], &large).status,
        413
    );
}

#[test]
fn no_path_leads_out_of_the_list() {
    let console = Console::start();
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/%2fetc%2fpasswd/file",
        "/runs/0000000000000000",
        "/api/live/..%2findex.json",
        "/compare?a=/etc/passwd&b=/etc/passwd",
        "/index.json",
    ] {
        let reply = console.get(path);
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        assert!(!reply.text().contains("root:"), "{path}");
    }
}
