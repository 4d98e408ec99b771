//! The peers themselves: that they are what tests take them for, asked by programs that are not the tool.

use super::support::peers::{GoServer, LogLine, Nginx, Node, Options, SseServer, exchange};
use std::net::SocketAddr;
use std::process::{Command, Stdio};

/// Two handshakes in a row by openssl, the second with the session of the first; what it says.
fn two_handshakes(nginx: &Nginx, port: usize, arguments: &[&str]) -> String {
    let scratch = super::support::Scratch::new();
    let session = scratch.path("session");
    let request = scratch.file("request", "GET /plain HTTP/1.0\r\n\r\n");
    let mut said = String::new();
    for round in ["-sess_out", "-sess_in"] {
        // A server that gives no session leaves none to come back with.
        let round = if std::path::Path::new(&session).exists() { round } else { "-sess_out" };
        let output = Command::new("openssl")
            .args(["s_client", "-connect", &format!("127.0.0.1:{}", nginx.ports()[port]), "-servername"])
            .args(["localhost", "-verify_return_error", "-ign_eof", round, &session, "-CAfile"])
            .arg(nginx.ca_file())
            .args(arguments)
            .stdin(Stdio::from(std::fs::File::open(&request).expect("it was just written")))
            .output()
            .expect("openssl is here: it made the certificates");
        said += &String::from_utf8_lossy(&output.stdout);
        said += &String::from_utf8_lossy(&output.stderr);
    }
    said
}

fn tls_lines(lines: &[LogLine]) -> Vec<(&str, bool)> {
    lines.iter().map(|line| (line.tls.as_deref().unwrap_or("none"), line.session_reused)).collect()
}

#[test]
fn nginx_serves_and_logs_plain_http() {
    let nginx = Nginx::start(Options { keepalive_requests: 2, ..Options::default() });
    let address = SocketAddr::from(([127, 0, 0, 1], nginx.ports()[0]));
    let one = "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n";
    // The third is on a connection that nginx closed with the second.
    let both = exchange(address, format!("{one}{one}{one}"));
    assert_eq!((both.status, String::from_utf8_lossy(&both.body).matches("fine").count()), (200, 2));
    let big = exchange(address, "GET /big HTTP/1.0\r\n\r\n");
    assert_eq!(big.body.len(), 1 << 20);
    let text = exchange(address, "GET /text HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_eq!((text.header("Content-Encoding"), text.body.len() < 1000), (Some("gzip"), true));
    let sunk = exchange(address, "POST /sink HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(sunk.body, b"sunk");
    let lines = nginx.wait_for_log_lines(5);
    let requests: Vec<(&str, u64, u16)> =
        lines.iter().map(|line| (line.request.as_str(), line.connection_requests, line.status)).collect();
    assert_eq!(
        requests,
        [
            ("GET /plain HTTP/1.1", 1, 200),
            ("GET /plain HTTP/1.1", 2, 200),
            ("GET /big HTTP/1.0", 1, 200),
            ("GET /text HTTP/1.0", 1, 200),
            ("POST /sink HTTP/1.0", 1, 200),
        ]
    );
    assert_eq!(lines[0].connection, lines[1].connection);
    assert_eq!((lines[0].tls.clone(), lines[0].request_length), (None, one.len() as u64));
}

#[test]
fn nginx_resumes_sessions_only_with_tickets() {
    for (session_tickets, reused) in [(true, true), (false, false)] {
        for protocol in ["TLSv1.2", "TLSv1.3"] {
            let options = Options { protocols: vec![protocol], session_tickets, ..Options::default() };
            let nginx = Nginx::start(options);
            let said = two_handshakes(&nginx, 1, &[]);
            assert!(said.contains("fine"), "{said}");
            let lines = nginx.wait_for_log_lines(2);
            assert_eq!(tls_lines(&lines), [(protocol, false), (protocol, reused)], "{said}");
            assert_eq!(lines[0].server_name.as_deref(), Some("localhost"));
        }
    }
}

#[test]
fn nginx_wants_a_certificate_on_its_third_port() {
    let nginx = Nginx::start(Options::default());
    two_handshakes(&nginx, 2, &["-no_ticket"]);
    let refused = nginx.wait_for_log_lines(2);
    assert!(refused.iter().all(|line| line.status == 400), "{refused:?}");
    let (certificate, key) = nginx.client_cert();
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let said = two_handshakes(&nginx, 2, &["-no_ticket", "-cert", &certificate, "-key", &key]);
    let lines = nginx.wait_for_log_lines(4);
    assert_eq!((lines[3].status, lines[3].client_verify.as_deref()), (200, Some("SUCCESS")), "{said}");
}

/// Checks a login, an upload, and a session with hand-written requests.
fn keeps_the_contract(address: SocketAddr) {
    let post = |path: &str, kind: &str, more: &str, body: &str| {
        let length = body.len();
        let head =
            format!("POST {path} HTTP/1.0\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n");
        exchange(address, head + body)
    };
    let wrong = post("/login", "application/json", "", r#"{"user":"a","password":"x"}"#);
    assert_eq!(wrong.status, 401);
    let form = post("/login", "application/x-www-form-urlencoded", "", "user=a%20b&password=secret");
    assert_eq!(form.json()["user"]["name"], "a b");
    let login = post("/login", "application/json", "", r#"{"user":"c","password":"secret"}"#).json();
    let bearer = format!("Authorization: Bearer {}\r\n", login["token"].as_str().expect("a token"));
    let me = exchange(address, format!("GET /me HTTP/1.0\r\n{bearer}\r\n"));
    assert_eq!((me.status, &me.json()["user"]["name"]), (200, &"c".into()));
    assert_eq!(exchange(address, "GET /me HTTP/1.0\r\n\r\n").status, 401);
    let added = post("/items", "application/json", &bearer, r#"{"name":"new","price":7}"#);
    assert_eq!((added.status, added.header("Location")), (201, Some("/items/4")));
    assert_eq!(exchange(address, "GET /items/4 HTTP/1.0\r\n\r\n").json()["price"], 7);
    let listed = exchange(address, "GET /items?limit=2 HTTP/1.0\r\n\r\n").json();
    assert_eq!((listed["items"].as_array().map(Vec::len), &listed["total"]), (Some(2), &4.into()));
    let parts = "--cut\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n\
                 --cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\nabc\r\n--cut--\r\n";
    let upload = post("/upload", "multipart/form-data; boundary=cut", "", parts).json();
    // printf abc | sha256sum
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((&upload["parts"][0]["name"], &upload["parts"][0]["bytes"]), (&"note".into(), &5.into()));
    assert_eq!(
        (&upload["parts"][1]["filename"], &upload["parts"][1]["sha256"]),
        (&"a.bin".into(), &sum.into())
    );
    let first = exchange(address, "GET /session HTTP/1.0\r\n\r\n");
    let cookie = first.header("Set-Cookie").and_then(|line| line.split(';').next()).expect("a cookie");
    let second = exchange(address, format!("GET /session HTTP/1.0\r\nCookie: {cookie}\r\n\r\n"));
    assert_eq!((first.json()["count"].as_u64(), second.json()["count"].as_u64()), (Some(1), Some(2)));
    let redirect = exchange(address, "GET /redirect?to=/items&status=307 HTTP/1.0\r\n\r\n");
    assert_eq!((redirect.status, redirect.header("Location")), (307, Some("/items")));
    let pressed = exchange(address, "GET /compressed HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_eq!((pressed.header("Content-Encoding"), &pressed.body[..2]), (Some("gzip"), &[0x1f, 0x8b][..]));
}

#[test]
fn node_and_go_keep_the_same_contract() {
    let (node, go) = (Node::start("server.mjs"), GoServer::start("go"));
    keeps_the_contract(node.address());
    keeps_the_contract(go.address());
    for stats in [node.stats(), go.stats()] {
        let counts = ["requests", "logins", "refused", "uploads"].map(|name| stats[name].as_u64());
        assert_eq!(counts, [13, 2, 2, 1].map(Some), "{stats}");
    }
}

#[test]
fn a_library_from_npm_writes_event_streams() {
    let server = SseServer::start();
    let answer =
        exchange(server.address(), "GET /events?every=5&count=3 HTTP/1.0\r\nLast-Event-ID: 1\r\n\r\n");
    let text = String::from_utf8(answer.body).expect("event streams are UTF-8");
    assert_eq!(answer.status, 200);
    // This library sends no space after its colons, which the standard permits.
    let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id:")).collect();
    assert_eq!(ids, ["2", "3"], "{text}");
    assert_eq!(server.stats()["last_ids"][0], "1");
}
