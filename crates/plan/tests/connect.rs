//! Settings of connections as texts: cipher suites, versions, sessions, and addresses.

use plimsoll_plan::address::{addresses, describe};
use plimsoll_plan::cipher::{CIPHERS, cipher, ciphers};
use plimsoll_plan::link::{Addresses, Resumption, Versions, resumption, versions};

#[test]
fn cipher_suites_are_named_as_by_openssl_or_iana() {
    let names =
        ciphers("ecdhe-rsa-aes128-gcm-sha256:TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
    let expected = [
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    ];
    assert_eq!(names.unwrap(), expected);
    assert!(CIPHERS.iter().all(|one| cipher(one.name) == Some(one) && cipher(one.openssl) == Some(one)));
}

#[test]
fn an_unsupported_suite_is_named_next_to_all_supported_ones() {
    for (text, says) in [
        ("AES128-SHA", "unknown or unsupported cipher suite `AES128-SHA`"),
        (
            "TLS_RSA_WITH_AES_128_CBC_SHA",
            "unknown or unsupported cipher suite `TLS_RSA_WITH_AES_128_CBC_SHA`",
        ),
        ("HIGH", "unsupported cipher list word `HIGH`: only names of suites are supported"),
        ("TLS_AES_128_GCM_SHA256:!aNULL", "unsupported cipher list word `!aNULL`"),
        ("@SECLEVEL=1", "unsupported cipher list word `@SECLEVEL=1`"),
        ("", "empty name in a list of cipher suites"),
    ] {
        let problem = ciphers(text).unwrap_err();
        assert!(problem.message.starts_with(says), "{text}: {}", problem.message);
        assert!(CIPHERS.iter().all(|one| problem.hint.contains(one.openssl)), "{}", problem.hint);
    }
    let twice = ciphers("TLS_AES_128_GCM_SHA256:TLS_AES_128_GCM_SHA256").unwrap_err();
    assert_eq!(twice.message, "duplicate cipher suite `TLS_AES_128_GCM_SHA256`");
}

#[test]
fn versions_and_sessions_are_words() {
    let found = ["1.2-1.3", "1.2", "1.3"].map(|text| versions(text).unwrap());
    assert_eq!(found, [Versions::Both, Versions::Tls12, Versions::Tls13]);
    assert!(versions("1.1-1.3").unwrap_err().message.contains("TLS 1.1 is not supported"));
    assert_eq!(versions("1.4").unwrap_err().message, "invalid TLS versions `1.4`");
    let found = ["true", "false", "session_id"].map(|text| resumption(text).unwrap());
    assert_eq!(found, [Resumption::On, Resumption::Off, Resumption::SessionId]);
}

#[test]
fn addresses_have_ports_and_weights_of_their_own() {
    let (which, all) = addresses("127.0.0.1:8080=3, [::1]:8081, ::2=2,10.0.0.1").unwrap();
    assert_eq!(which, Addresses::All);
    let found: Vec<(String, u32)> = all.iter().map(|one| (one.socket(80).to_string(), one.weight)).collect();
    let expected = [("127.0.0.1:8080", 3), ("[::1]:8081", 1), ("[::2]:80", 2), ("10.0.0.1:80", 1)];
    assert_eq!(found, expected.map(|(address, weight)| (address.to_owned(), weight)));
    assert_eq!(addresses("all").unwrap(), (Addresses::All, vec![]));
    assert_eq!([80, 81].map(|port| describe(all[3].socket(80), port)), ["10.0.0.1", "10.0.0.1:80"]);
    for (text, says) in [
        ("shop.test:80", "invalid address `shop.test:80`"),
        ("127.0.0.1:0", "invalid address `127.0.0.1:0`"),
        ("127.0.0.1=1001", "invalid weight `1001`"),
        ("127.0.0.1,127.0.0.1", "duplicate address `127.0.0.1`"),
    ] {
        assert!(addresses(text).unwrap_err().message.starts_with(says), "{text}");
    }
}
