//! Permission to send load: the three ways to permit a public host, and the addresses that none of them permits.

use plimsoll_control::Resolved;
use plimsoll_control::permission::{Asking, Granted, Refusal, permit};
use std::cell::Cell;
use std::net::SocketAddr;

type Answer = Result<(u16, Vec<u8>), String>;

struct Case<'a> {
    host: &'a str,
    addresses: &'a [&'a str],
    allow: &'a [&'a str],
    /// The text that the user types; `None` without a terminal.
    typed: Option<&'a str>,
    file: Answer,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Case {
            host: "example.test",
            addresses: &["203.0.113.5"],
            allow: &[],
            typed: None,
            file: Ok((404, Vec::new())),
        }
    }
}

/// Returns the result, and how often the user was asked and the file was fetched.
fn judge(case: Case<'_>) -> (Result<Granted, Refusal>, u32, u32) {
    let mut fetch = |_| case.file.clone();
    let (answer, asked, fetched, _) = judge_each(&case, &mut fetch);
    (answer, asked, fetched)
}

/// The same with a different file for each address; also returns the remaining addresses.
fn judge_each(
    case: &Case<'_>,
    file: &mut dyn FnMut(SocketAddr) -> Answer,
) -> (Result<Granted, Refusal>, u32, u32, Vec<String>) {
    let mut place = Resolved {
        addresses: case
            .addresses
            .iter()
            .map(|a| (a.parse::<std::net::IpAddr>().unwrap(), 80).into())
            .collect(),
        dns_ns: 0,
        route: None,
        proxy: None,
        weights: Vec::new(),
    };
    let allow: Vec<String> = case.allow.iter().map(|s| s.to_string()).collect();
    let (asked, fetched) = (Cell::new(0), Cell::new(0));
    let mut confirm = |question: &str| {
        asked.set(asked.get() + 1);
        assert!(question.contains(case.host), "{question}");
        case.typed.unwrap_or_default().to_owned()
    };
    let mut fetch = |address| {
        fetched.set(fetched.get() + 1);
        file(address)
    };
    let asking = Asking {
        allow: &allow,
        confirm: if case.typed.is_some() { Some(&mut confirm) } else { None },
        today: "2026-11-21",
        fetch: &mut fetch,
    };
    let answer = permit(case.host, &mut place, asking);
    let left = place.addresses.iter().map(|a| a.ip().to_string()).collect();
    (answer, asked.get(), fetched.get(), left)
}

#[test]
fn loopback_and_private_addresses_need_no_permission() {
    for address in [
        "127.0.0.1",
        "::1",
        "10.1.2.3",
        "192.168.0.9",
        "172.16.0.1",
        "fd12::1",
        "100.64.0.1",
        "::ffff:10.0.0.1",
    ] {
        let case = Case { host: address, addresses: &[address], typed: Some("no"), ..Case::default() };
        assert_eq!(judge(case), (Ok(Granted::Free), 0, 0), "{address}");
    }
}

#[test]
fn metadata_services_multicast_and_broadcast_are_always_rejected() {
    for address in ["169.254.169.254", "224.0.0.1", "255.255.255.255", "ff02::1", "::ffff:169.254.169.254"] {
        let case = Case {
            host: address,
            addresses: &["127.0.0.1", address],
            allow: &[address],
            typed: Some(address),
            file: Ok((200, format!("allow: {address}").into_bytes())),
        };
        let (answer, asked, fetched) = judge(case);
        assert!(answer.unwrap_err().sentence.contains("cannot be loaded"), "{address}");
        assert_eq!((asked, fetched), (0, 0));
    }
}

#[test]
fn a_public_host_without_permission_is_rejected_and_the_error_names_all_three_ways() {
    let (answer, asked, fetched) = judge(Case::default());
    let refusal = answer.unwrap_err();
    assert!(refusal.sentence.contains("`example.test` (203.0.113.5) is a public address"), "{refusal}");
    for way in ["--allow example.test", "type the host's name", "/.well-known/plimsoll.txt", "404"] {
        assert!(refusal.hint.contains(way), "{way} in {}", refusal.hint);
    }
    assert_eq!((asked, fetched), (0, 1));
}

#[test]
fn allow_permits_by_name_or_by_address_without_asking() {
    for name in ["example.test", "EXAMPLE.test", "203.0.113.5"] {
        let case = Case { allow: &[name], typed: Some(""), ..Case::default() };
        assert_eq!(judge(case), (Ok(Granted::Allowed), 0, 0), "{name}");
    }
    let other = Case { allow: &["other.test"], ..Case::default() };
    assert!(judge(other).0.is_err());
}

#[test]
fn one_public_address_among_private_ones_needs_permission() {
    let mixed = &["10.0.0.1", "203.0.113.5"];
    assert!(judge(Case { addresses: mixed, ..Case::default() }).0.is_err());
    // An address given with `--allow` must cover all addresses of the name.
    assert!(judge(Case { addresses: mixed, allow: &["203.0.113.5"], ..Case::default() }).0.is_err());
}

#[test]
fn only_typing_the_host_name_permits_it() {
    assert_eq!(
        judge(Case { typed: Some("example.test\n"), ..Case::default() }),
        (Ok(Granted::Confirmed), 1, 0)
    );
    for wrong in ["", "y", "yes", "example"] {
        let (answer, asked, _) = judge(Case { typed: Some(wrong), ..Case::default() });
        assert!(answer.is_err() && asked == 1, "{wrong}");
    }
}

#[test]
fn the_ownership_file_permits_a_host_that_it_names_until_it_expires() {
    let file = |text: &str| Case { file: Ok((200, text.as_bytes().to_vec())), ..Case::default() };
    assert_eq!(judge(file("allow: example.test\nexpires: 2026-12-31\n")).0, Ok(Granted::Proved));
    let expired = judge(file("allow: example.test\nexpires: 2026-11-20\n")).0.unwrap_err();
    assert!(expired.hint.contains("expired on 2026-11-20"), "{}", expired.hint);
    let other = judge(file("allow: other.test\n")).0.unwrap_err();
    assert!(other.hint.contains("no line `allow: example.test`"), "{}", other.hint);
    let unreachable = judge(Case { file: Err("no answer".into()), ..Case::default() }).0.unwrap_err();
    assert!(unreachable.hint.contains("could not be fetched: no answer"), "{}", unreachable.hint);
}

#[test]
fn an_ownership_file_permits_only_the_address_that_serves_it() {
    let case =
        Case { addresses: &["10.0.0.1", "203.0.113.5", "198.51.100.7", "192.0.2.3"], ..Case::default() };
    let mut file = |address: SocketAddr| match address.ip().to_string().as_str() {
        "203.0.113.5" => Ok((404, Vec::new())),
        "198.51.100.7" => Ok((200, b"allow: example.test".to_vec())),
        _ => Err("no answer".into()),
    };
    let (answer, _, fetched, left) = judge_each(&case, &mut file);
    assert_eq!((answer, fetched), (Ok(Granted::Proved), 3), "a private address needs no proof");
    assert_eq!(left, ["10.0.0.1", "198.51.100.7"], "addresses without permission get no load");
    // Without any file, the host is rejected with every reason, and no address is removed.
    let mut none = |address: SocketAddr| match address.ip().to_string().as_str() {
        "203.0.113.5" => Ok((404, Vec::new())),
        _ => Err("no answer".into()),
    };
    let (answer, _, _, left) = judge_each(&case, &mut none);
    let hint = answer.unwrap_err().hint;
    assert!(hint.contains("(the response was 404; it could not be fetched: no answer)"), "{hint}");
    assert_eq!(left.len(), 4);
}
