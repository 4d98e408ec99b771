//! Fetches alongside the load use the permitted address and the requested name, respect their limits of size and time,
//! and follow no redirect.

use crate::certificate::Certificate;
use crate::servers::{dripping, page, pages, silent};
use plimsoll_control::fetch::from_address;
use plimsoll_engine::link::tls::{Setup, Wanted};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(30);

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

fn setup(name: &str, ca: Option<Vec<u8>>, insecure: bool) -> Setup {
    let wanted = Wanted {
        server_name: name.into(),
        ca_pem: ca.into_iter().collect(),
        insecure,
        alpn: vec![b"http/1.1".to_vec()],
        ..Wanted::default()
    };
    Setup::new(&wanted).unwrap()
}

#[test]
fn a_page_is_fetched_from_the_address_and_not_from_the_name() {
    let port = pages(vec![page("allow: example.test\n")]);
    let got = from_address(local(port), None, "example.test", "/x", 1_000, LONG);
    assert_eq!(got, Ok((200, b"allow: example.test\n".to_vec())));
    let (_listener, silent) = silent();
    let why = from_address(local(silent), None, "h", "/x", 1_000, Duration::from_millis(300));
    assert_eq!(why, Err("no response in time".into()));
}

#[test]
fn over_tls_the_certificate_must_match_the_name_and_be_trusted() {
    let certificate = Certificate::new();
    let (port, asked) = certificate.serve(&page("allow: it\n"));
    let get = |setup: &Setup| {
        from_address(local(port), Some(setup), &format!("127.0.0.1:{port}"), "/.well-known/x", 1_000, LONG)
    };
    let ca = certificate.pem();
    assert_eq!(get(&setup("127.0.0.1", Some(ca.clone()), false)), Ok((200, b"allow: it\n".to_vec())));
    let request = asked.recv().unwrap().to_lowercase();
    assert!(request.starts_with("get /.well-known/x http/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: 127.0.0.1:{port}\r\n")), "{request}");
    assert!(get(&setup("127.0.0.1", None, true)).is_ok(), "`-k` trusts every certificate");
    let other = Certificate::new().pem();
    for (name, ca) in [("127.0.0.1", None), ("127.0.0.1", Some(other)), ("other.test", Some(ca))] {
        let why = get(&setup(name, ca, false)).unwrap_err();
        assert!(why.contains("certificate"), "{name}: {why}");
    }
    let plain = dripping(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let why = from_address(local(plain), Some(&setup("h", None, true)), "h", "/x", 1_000, LONG).unwrap_err();
    assert!(why.contains("did not respond with TLS"), "{why}");
}

#[test]
fn a_redirect_is_returned_and_not_followed() {
    let elsewhere = pages(vec![page("allow: it\n")]);
    let to =
        format!("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{elsewhere}/\r\nContent-Length: 0\r\n\r\n");
    let got = from_address(local(pages(vec![to.into_bytes()])), None, "h", "/x", 1_000, LONG);
    assert_eq!(got, Ok((302, Vec::new())));
}

#[test]
fn a_fetch_respects_its_limits_of_size_and_time() {
    let got = from_address(local(pages(vec![page(&"x".repeat(5_000))])), None, "h", "/x", 1_000, LONG);
    assert_eq!(got.unwrap().1.len(), 1_000);
    let begin = Instant::now();
    let port = dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    let why = from_address(local(port), None, "h", "/x", 1_000_000, Duration::from_millis(400));
    assert_eq!(why, Err("no response in time".into()));
    assert!(begin.elapsed() < LONG, "each byte arrived in time, but the whole response did not");
}
