//! Which certificates a TLS link trusts, how it identifies itself, and which error it returns if that fails: a message
//! of the right kind.

use crate::link_support::*;
use plimsoll_engine::link::tls::{Setup, TlsFault, Versions, Wanted};
use rustls::{AlertDescription, Error, version};
use std::sync::Arc;

fn certificate_fault(result: &Result<(), TlsFault>) -> String {
    match result {
        Err(fault @ TlsFault::Certificate(_)) => fault.to_string(),
        other => panic!("expected a certificate fault, not {other:?}"),
    }
}

/// Refused with these words, and the server is notified; accepted if nothing is verified.
fn only_insecurely(wanted: &Wanted, identity: &Identity, words: &[&str]) {
    for versions in BOTH {
        let server = Arc::new(server(identity, None));
        let wanted = Wanted { versions, ..wanted.clone() };
        let (result, mut pair) = outcome(&setup(&wanted), &server);
        let sentence = certificate_fault(&result);
        assert!(words.iter().all(|w| sentence.contains(w)), "{versions:?}: {sentence}");
        assert!(matches!(pair.complaint.take(), Some(Error::AlertReceived(_))), "the server is notified");
        assert!(!pair.link.is_ready() && pair.link.facts().is_none());
        let careless = Wanted { insecure: true, ca_pem: vec![], ..wanted };
        let (result, pair) = outcome(&setup(&careless), &server);
        assert!(result.is_ok() && pair.link.is_ready(), "insecure: {result:?}");
    }
}

#[test]
fn a_certificate_of_another_authority_is_not_trusted() {
    let (ours, theirs) = (Authority::new(), Authority::named("theirs"));
    let identity = theirs.issue(&["localhost"]);
    only_insecurely(
        &wanted(&ours, Versions::Both),
        &identity,
        &["not trusted", "help: trust its authority with `--ca FILE`"],
    );
    // Without a custom CA, the public ones are used, and they know neither.
    let public = Wanted { server_name: "localhost".into(), ..Wanted::default() };
    only_insecurely(&public, &identity, &["not trusted"]);
    let either = Wanted { ca_pem: vec![ours.pem(), theirs.pem()], ..wanted(&ours, Versions::Both) };
    assert!(outcome(&setup(&either), &Arc::new(server(&identity, None))).0.is_ok());
    let bundle = Wanted { ca_pem: vec![[ours.pem(), theirs.pem()].concat()], ..either };
    assert!(outcome(&setup(&bundle), &Arc::new(server(&identity, None))).0.is_ok());
}

#[test]
fn an_authority_that_was_made_again_under_its_name_is_another_one() {
    let (older, newer) = (Authority::new(), Authority::new());
    let identity = newer.issue(&["localhost"]);
    only_insecurely(&wanted(&older, Versions::Both), &identity, &["not signed", "recreated"]);
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let identity = authority.issue(&["example.test", "192.0.2.1"]);
    only_insecurely(&wanted(&authority, Versions::Both), &identity, &["another name", "example.test"]);
}

#[test]
fn a_certificate_whose_time_is_over_is_refused() {
    let authority = Authority::new();
    let identity = authority.issue_until(&["localhost"], 2001);
    only_insecurely(&wanted(&authority, Versions::Both), &identity, &["expired", "clock"]);
}

#[test]
fn a_self_signed_certificate_is_its_own_authority_but_no_other_check_is_left_out() {
    for versions in BOTH {
        let wish = |identity: &Identity, name: &str| Wanted {
            server_name: name.into(),
            ca_pem: vec![identity.cert.clone().into_bytes()],
            versions,
            ..Wanted::default()
        };
        let identity = self_signed(&["localhost"], 4000);
        let server_of_it = Arc::new(server(&identity, None));
        assert!(outcome(&setup(&wish(&identity, "localhost")), &server_of_it).0.is_ok());
        let (result, _pair) = outcome(&setup(&wish(&identity, "example.test")), &server_of_it);
        assert!(certificate_fault(&result).contains("another name"), "{result:?}");
        let (result, _pair) =
            outcome(&setup(&wish(&self_signed(&["localhost"], 4000), "localhost")), &server_of_it);
        assert!(certificate_fault(&result).contains("self-signed, or is itself a CA"), "{result:?}");
        let old = self_signed(&["localhost"], 2001);
        let (result, _pair) = outcome(&setup(&wish(&old, "localhost")), &Arc::new(server(&old, None)));
        assert!(certificate_fault(&result).contains("expired"), "{result:?}");
    }
}

#[test]
fn an_address_is_checked_but_not_sent_as_a_name() {
    let authority = Authority::new();
    let server = Arc::new(server(&authority.issue(&["localhost", "127.0.0.1", "::1"]), None));
    for (name, sent) in
        [("localhost", Some("localhost")), ("127.0.0.1", None), ("::1", None), ("[::1]", None)]
    {
        let wanted = Wanted { server_name: name.into(), ..wanted(&authority, Versions::Both) };
        let pair = Pair::ready(&setup(&wanted), &server);
        assert_eq!(pair.server.server_name(), sent, "{name}");
    }
    let wanted = Wanted { server_name: "127.0.0.2".into(), ..wanted(&authority, Versions::Both) };
    assert!(certificate_fault(&outcome(&setup(&wanted), &server).0).contains("another name"));
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_demands_one() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let client = clients.issue(&["me"]);
    let server = Arc::new(server(&authority.issue(&["localhost"]), Some(&clients)));
    for versions in BOTH {
        let (cert, key) = (client.cert.clone().into_bytes(), client.key.clone().into_bytes());
        let both = Some([key.clone(), cert.clone()].concat());
        for (cert_pem, key_pem) in [(Some(cert), Some(key)), (both, None)] {
            let wanted = Wanted { cert_pem, key_pem, ..wanted(&authority, versions) };
            let (result, pair) = outcome(&setup(&wanted), &server);
            assert!(result.is_ok() && pair.complaint.is_none(), "{result:?} {:?}", pair.complaint);
            assert_eq!(pair.server.peer_certificates().map(<[_]>::len), Some(1));
        }
    }
}

#[test]
fn a_missing_or_a_strange_client_certificate_is_the_servers_refusal() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let server = Arc::new(server(&authority.issue(&["localhost"]), Some(&clients)));
    let stranger = Authority::named("unknown").issue(&["me"]);
    for versions in BOTH {
        let (result, pair) = outcome(&setup(&wanted(&authority, versions)), &server);
        assert!(
            matches!(&result, Err(fault @ TlsFault::Alert(_)) if fault.to_string().contains("client certificate")),
            "{result:?}"
        );
        assert_eq!(pair.complaint, Some(Error::NoCertificatesPresented));
        let (cert, key) = (stranger.cert.clone().into_bytes(), stranger.key.clone().into_bytes());
        let wanted = Wanted { cert_pem: Some(cert), key_pem: Some(key), ..wanted(&authority, versions) };
        let (result, pair) = outcome(&setup(&wanted), &server);
        let expected = "the server sent the TLS alert `unknown_ca`\nhelp: the server rejects";
        assert!(
            matches!(&result, Err(fault @ TlsFault::Alert(_)) if fault.to_string().starts_with(expected)),
            "{result:?}"
        );
        assert!(matches!(pair.complaint, Some(Error::InvalidCertificate(_))));
    }
}

#[test]
fn a_version_that_is_not_allowed_is_not_spoken() {
    let authority = Authority::new();
    let identity = authority.issue(&["localhost"]);
    for (ours, theirs) in [(Versions::Tls12, &version::TLS13), (Versions::Tls13, &version::TLS12)] {
        let server = Arc::new(server_of(&identity, None, &[theirs]));
        let (result, pair) = outcome(&setup(&wanted(&authority, ours)), &server);
        let expected = "alert `protocol_version`\nhelp: the server supports none of the offered versions";
        assert!(
            matches!(&result, Err(fault @ TlsFault::Alert(_)) if fault.to_string().contains(expected)),
            "{result:?}"
        );
        assert!(matches!(pair.complaint, Some(Error::PeerIncompatible(_))));
    }
}

#[test]
fn an_alert_bears_its_name_of_the_standard() {
    let authority = Authority::new();
    let server = Arc::new(server(&authority.issue(&["localhost"]), None));
    for (alert, word) in [
        (AlertDescription::HandshakeFailure, "`handshake_failure`"),
        (AlertDescription::UnknownCA, "`unknown_ca`"),
        (AlertDescription::UnrecognisedName, "`unrecognised_name`"),
        (AlertDescription::InternalError, "`internal_error`"),
    ] {
        let mut pair = Pair::new(&setup(&wanted(&authority, Versions::Both)), &server);
        pair.down = vec![0x15, 3, 3, 0, 2, 2, u8::from(alert)];
        let fault = pair.carry(usize::MAX).expect_err("an alert is fatal");
        assert!(matches!(&fault, TlsFault::Alert(problem) if problem.message.contains(word)), "{fault}");
    }
}

/// Returns the error of `Setup::new` for these settings, with the hint on a separate line.
fn refused(change: impl FnOnce(&mut Wanted)) -> String {
    let mut wanted = Wanted { server_name: "localhost".into(), ..Wanted::default() };
    change(&mut wanted);
    match Setup::new(&wanted) {
        Ok(_) => panic!("accepted: {wanted:?}"),
        Err(problem) => format!("{}\nhelp: {}", problem.message, problem.hint),
    }
}

#[test]
fn wishes_that_cannot_be_granted_are_refused_before_the_load() {
    let authority = Authority::new();
    let (one, other) = (authority.issue(&["me"]), authority.issue(&["you"]));
    let bytes = |text: &str| Some(text.as_bytes().to_vec());
    let cases: Vec<(String, &str)> = vec![
        (refused(|w| w.server_name = "https://x".into()), "cannot use `https://x` as server name"),
        (refused(|w| w.server_name = String::new()), "cannot use `` as server name"),
        (
            refused(|w| w.ca_pem = vec![authority.pem(), vec![]]),
            "CA file `2` contains no certificate: it is empty",
        ),
        (
            refused(|w| w.ca_pem = vec![b"hello".to_vec()]),
            "CA file `1` contains no certificate: it is not PEM",
        ),
        (refused(|w| w.ca_pem = vec![vec![0x30, 0x82]]), "it is DER"),
        (refused(|w| w.ca_pem = vec![one.key.clone().into_bytes()]), "it begins with `PRIVATE KEY`"),
        (refused(|w| w.ca_pem = vec![one.cert.replace("-----END", "").into_bytes()]), "is missing"),
        (refused(|w| w.ca_pem = vec![one.cert.replace('M', "!").into_bytes()]), "invalid base64"),
        (
            refused(|w| {
                w.ca_pem = vec![b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec()]
            }),
            "cannot use a certificate in CA file `1`",
        ),
        (
            refused(|w| (w.insecure, w.ca_pem) = (true, vec![authority.pem()])),
            "`insecure` contradict each other",
        ),
        (refused(|w| w.key_pem = bytes(&one.key)), "a client key without its certificate"),
        (refused(|w| w.cert_pem = bytes(&one.cert)), "a client certificate without its key"),
        (
            refused(|w| (w.cert_pem, w.key_pem) = (bytes(&one.cert), bytes(&other.key))),
            "the client key does not belong to the client certificate",
        ),
        (
            refused(|w| (w.cert_pem, w.key_pem) = (bytes(&one.key), bytes(&one.key))),
            "the client certificate file contains no certificate: it begins with `PRIVATE KEY`",
        ),
        (
            refused(|w| (w.cert_pem, w.key_pem) = (bytes(&one.cert), bytes(&one.cert))),
            "the client key file contains no private key: it begins with `CERTIFICATE`",
        ),
        (
            refused(|w| {
                let locked = one.key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
                (w.cert_pem, w.key_pem) = (bytes(&one.cert), bytes(&locked));
            }),
            "the key in the client key file is encrypted\nhelp: decrypt it with `openssl pkey",
        ),
        (refused(|w| w.alpn = vec![vec![]]), "1 to 255 bytes, not `0`"),
        (refused(|w| w.alpn = vec![vec![b'x'; 256]]), "1 to 255 bytes, not `256`"),
    ];
    for (sentence, words) in cases {
        assert!(sentence.contains(words), "{sentence}\nshould say: {words}");
        assert!(
            sentence.starts_with(|c: char| !c.is_ascii_uppercase() || sentence.starts_with("CA ")),
            "{sentence}"
        );
    }
}

#[test]
fn neither_a_setup_nor_its_sessions_print_secrets() {
    let authority = Authority::new();
    let client = authority.issue(&["me"]);
    let wanted = Wanted {
        cert_pem: Some(client.cert.into_bytes()),
        key_pem: Some(client.key.into_bytes()),
        resume: true,
        ..wanted(&authority, Versions::Both)
    };
    let shown = format!("{:?}", setup(&wanted));
    assert!(shown.contains("localhost") && shown.len() < 120, "{shown}");
}
