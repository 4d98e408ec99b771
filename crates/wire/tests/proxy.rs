//! Handshakes with proxies, split everywhere, and the headers of the PROXY protocol as their specification shows them.

use plimsoll_wire::h1::{Limits, Shared};
use plimsoll_wire::proxy::{
    Destination, Fed, Handshake, Refused, SocksRequest, Version, basic, connect, forwarded, preface,
};

/// Feeds the pieces, as long as the handshake takes them. Returns what was sent after the beginning, and how many bytes
/// were not part of the handshake; `None` if it is not done.
fn fed(mut handshake: Handshake, pieces: &[&[u8]]) -> Result<(Vec<u8>, Option<usize>), Refused> {
    let (mut shared, mut out) = (Shared::new(Limits::default()), Vec::new());
    for (at, piece) in pieces.iter().enumerate() {
        let Fed { consumed, is_done } = handshake.feed(piece, &mut shared, &mut out)?;
        if is_done {
            handshake.end(&mut shared);
            let rest =
                piece.len() - consumed + pieces[at + 1..].iter().map(|piece| piece.len()).sum::<usize>();
            return Ok((out, Some(rest)));
        }
        assert_eq!(consumed, piece.len(), "an unfinished handshake takes everything");
    }
    Ok((out, None))
}

/// Feeds the bytes split at each place, and byte by byte; all must lead to the same.
fn split(make: impl Fn() -> Handshake, bytes: &[u8]) -> Result<(Vec<u8>, Option<usize>), Refused> {
    let whole = fed(make(), &[bytes]);
    for at in 0..=bytes.len() {
        assert_eq!(fed(make(), &[&bytes[..at], &bytes[at..]]), whole, "split at {at}");
    }
    assert_eq!(fed(make(), &bytes.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    whole
}

fn by_connect() -> Handshake {
    Handshake::connect(&connect("[::1]:443", None, "t"), &mut Vec::new())
}

fn by_socks(login: Option<(&str, &str)>) -> (Handshake, Vec<u8>) {
    let mut out = Vec::new();
    let request = SocksRequest::new(&Destination::Name("shop.test".into()), 443, login);
    (Handshake::socks(&request, &mut out), out)
}

#[test]
fn connect_names_the_server_with_its_port_and_carries_the_login() {
    let bytes = connect("shop.test:443", Some(&basic("Aladdin", "open sesame")), "tool/1");
    // The value is the example of RFC 7617, section 2.
    let text = "CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\
                Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\nUser-Agent: tool/1\r\n\r\n";
    assert_eq!(String::from_utf8_lossy(&bytes), text);
}

#[test]
fn a_forwarded_request_has_its_whole_url_and_the_login() {
    let put = |request: &str| {
        let mut out = Vec::new();
        forwarded(request.as_bytes(), "http://[::1]:81", b"Proxy-Authorization: Basic x\r\n", &mut out);
        String::from_utf8(out).unwrap()
    };
    let post = put("POST /a?b=%20* HTTP/1.1\r\nHost: [::1]:81\r\nContent-Length: 4\r\n\r\n / \n");
    let text = "POST http://[::1]:81/a?b=%20* HTTP/1.1\r\nProxy-Authorization: Basic x\r\nHost: [::1]:81\r\n\
                Content-Length: 4\r\n\r\n / \n";
    assert_eq!(post, text);
    let all = put("OPTIONS * HTTP/1.1\r\nHost: [::1]:81\r\n\r\n");
    assert!(all.starts_with("OPTIONS http://[::1]:81 HTTP/1.1\r\n"), "{all}");
}

#[test]
fn a_tunnel_begins_right_after_the_head_whatever_length_it_declares() {
    let plain = split(by_connect, b"HTTP/1.1 200 Connection established\r\n\r\n\x16\x03\x01");
    assert_eq!(plain, Ok((Vec::new(), Some(3))));
    let strange = split(by_connect, b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nserver");
    assert_eq!(strange, Ok((Vec::new(), Some(6))));
    let interim = split(by_connect, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Fine\r\n\r\n");
    assert_eq!(interim, Ok((Vec::new(), Some(0))));
    assert_eq!(fed(by_connect(), &[b"HTTP/1.1 200 OK\r\n"]), Ok((Vec::new(), None)));
}

#[test]
fn a_status_above_299_is_a_refusal_with_its_reason() {
    let refused = |bytes: &[u8]| split(by_connect, bytes).unwrap_err();
    let login = refused(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 3\r\n\r\nno!");
    assert_eq!(login, Refused::Status(407));
    assert!(login.is_about_credentials());
    assert_eq!(login.to_string(), "it requires other credentials (status 407)");
    let failed = refused(b"HTTP/1.1 502 Bad Gateway\r\n\r\n");
    assert!(!failed.is_about_credentials() && !failed.is_malformed());
    assert_eq!(failed.to_string(), "it refused to open a tunnel (status 502)");
    // A server that speaks another protocol.
    assert!(refused(b"SSH-2.0-OpenSSH_9.6\r\n\r\n").is_malformed());
}

#[test]
fn socks_without_a_login_asks_for_the_name_that_the_proxy_resolves() {
    let (_, begin) = by_socks(None);
    assert_eq!(begin, [5, 1, 0]);
    // RFC 1928, sections 3 to 6; the bound address is IPv4, IPv6, or a name, and the server speaks at once.
    for bound in [&[1, 127, 0, 0, 1, 1, 2][..], &[&[4][..], &[0; 18]].concat(), &[3, 2, b'a', b'b', 0, 9]] {
        let answer = [&[5, 0, 5, 0, 0][..], bound, b"hi"].concat();
        let asked = [&[5, 1, 0, 3, 9][..], b"shop.test", &[1, 187]].concat();
        assert_eq!(split(|| by_socks(None).0, &answer), Ok((asked, Some(2))));
    }
}

#[test]
fn socks_sends_user_name_and_password_only_if_the_proxy_wants_them() {
    let (_, begin) = by_socks(Some(("me", "secret")));
    assert_eq!(begin, [5, 2, 0, 2]);
    let ask = [&[5, 1, 0, 3, 9][..], b"shop.test", &[1, 187]].concat();
    let done = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let make = || by_socks(Some(("me", "secret"))).0;
    let wanted = split(make, &[&[5, 2, 1, 0][..], &done].concat());
    assert_eq!(wanted, Ok(([&[1, 2][..], b"me", &[6], b"secret", &ask].concat(), Some(0))));
    assert_eq!(split(make, &[&[5, 0][..], &done].concat()), Ok((ask, Some(0))));
    assert_eq!(split(make, &[5, 2, 1, 1]), Err(Refused::Password));
    assert_eq!(split(make, &[5, 0xff]), Err(Refused::NoMethod { had_password: true }));
    assert_eq!(split(|| by_socks(None).0, &[5, 0xff]), Err(Refused::NoMethod { had_password: false }));
}

#[test]
fn socks_replies_are_sentences_and_known_before_the_message_is_complete() {
    let refused = |bytes: &[u8]| split(|| by_socks(None).0, bytes).unwrap_err();
    let sentence = refused(&[5, 0, 5, 5]).to_string();
    assert_eq!(sentence, "it refused to open a tunnel (SOCKS5 reply 5: connection refused)");
    assert_eq!(refused(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Refused::NotSocks);
    // A method that was not offered, a version 4, and an unknown type of address.
    for bytes in [&[5, 1][..], &[4, 0], &[5, 0, 5, 0, 0, 9]] {
        assert_eq!(refused(bytes), Refused::NotSocks, "{bytes:?}");
    }
}

#[test]
fn socks_sends_addresses_as_addresses() {
    let mut out = Vec::new();
    let to = Destination::Address("::1".parse().unwrap());
    let handshake = Handshake::socks(&SocksRequest::new(&to, 8080, None), &mut out);
    let (sent, _) = fed(handshake, &[&[5, 0]]).unwrap();
    assert_eq!(sent, [&[5, 1, 0, 4][..], &[0; 15], &[1], &8080u16.to_be_bytes()].concat());
}

#[test]
fn the_proxy_protocol_names_both_ends() {
    let header = |version, ends: Option<(&str, &str)>| {
        let mut out = Vec::new();
        let ends = ends.map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()));
        preface(version, ends, &mut out);
        out
    };
    // The example of the specification, section 2.1.
    let v1 = header(Version::V1, Some(("192.168.0.1:56324", "192.168.0.11:443")));
    assert_eq!(v1, b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n");
    assert_eq!(header(Version::V1, Some(("[::1]:1", "[::2]:2"))), b"PROXY TCP6 ::1 ::2 1 2\r\n");
    assert_eq!(header(Version::V1, None), b"PROXY UNKNOWN\r\n");
    let signature = *b"\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a";
    let v2 = header(Version::V2, Some(("127.0.0.1:258", "127.0.0.2:80")));
    assert_eq!(v2, [&signature[..], &[0x21, 0x11, 0, 12, 127, 0, 0, 1, 127, 0, 0, 2, 1, 2, 0, 80]].concat());
    let mixed = header(Version::V2, Some(("[::1]:1", "127.0.0.2:80")));
    assert_eq!(mixed[..16], [&signature[..], &[0x21, 0x21, 0, 36]].concat());
    assert_eq!(mixed[42..48], [0xff, 0xff, 127, 0, 0, 2], "IPv4 in IPv6");
    assert_eq!(header(Version::V2, None), [&signature[..], &[0x21, 0, 0, 0]].concat());
}
