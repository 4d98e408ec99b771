//! Keys and certificates of a server, and of agents that join later.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll_cluster::server_setup::{ServerSetup, SetupFile, Validity, join};
use plimsoll_cluster::signature::SigningKey;

/// 2026-11-28.
const NOW: Validity = Validity { from_unix_s: 1_795_824_000, days: 365 };

fn setup(requires_certificates: bool) -> Vec<SetupFile> {
    let agents = vec!["a".to_owned(), "b".to_owned()];
    let setup =
        ServerSetup { host: "nats.test".into(), port: 4222, agents, requires_certificates, validity: NOW };
    setup.files().unwrap()
}

fn content<'a>(files: &'a [SetupFile], name: &str) -> &'a str {
    &files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("{name}")).content
}

/// Returns the dates in a certificate: its only values of the ASN.1 type UTCTime, `YYMMDDHHMMSSZ`.
fn dates(pem: &str) -> Vec<String> {
    let lines: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let der = STANDARD.decode(lines).unwrap();
    let is_date = |bytes: &&[u8]| bytes[..2] == [0x17, 13] && bytes[14] == b'Z';
    der.windows(15).filter(is_date).map(|bytes| String::from_utf8_lossy(&bytes[2..8]).into_owned()).collect()
}

#[test]
fn a_setup_has_one_key_that_signs_orders_and_its_public_half() {
    let files = setup(false);
    let secret = files.iter().find(|file| file.name == "signing.nk").unwrap();
    let key = SigningKey::parse(&secret.content).unwrap();
    assert!(secret.is_secret);
    assert_eq!(content(&files, "signing.pub").trim(), key.public());
    // The server knows the key of the coordinator by which it connects, not this one.
    assert!(!content(&files, "server.conf").contains(&key.public()));
}

#[test]
fn certificates_are_valid_for_as_long_as_stated() {
    let files = setup(true);
    for name in ["ca.pem", "server.pem", "a.pem", "coordinator.pem"] {
        assert_eq!(dates(content(&files, name)), ["261127", "271128"], "{name}");
    }
}

#[test]
fn agents_join_a_server_without_new_files_for_the_others() {
    for requires_certificates in [false, true] {
        let files = setup(requires_certificates);
        let (config, authorities) = (content(&files, "server.conf"), content(&files, "ca.pem"));
        let joined = join(&["c".to_owned()], config, authorities, NOW).unwrap();
        assert_eq!(joined.address, "nats.test:4222");
        assert_eq!(joined.requires_certificates, requires_certificates);
        let names: Vec<&str> = joined.files.iter().map(|file| file.name.as_str()).collect();
        let changed: Vec<&str> = joined.changed.iter().map(|file| file.name.as_str()).collect();
        match requires_certificates {
            false => assert_eq!((names, changed), (vec!["c.nk"], vec!["server.conf"])),
            true => {
                assert_eq!(names, ["c.nk", "c.pem", "c.key"]);
                assert_eq!(changed, ["ca.pem", "server.conf"]);
                assert!(content(&joined.changed, "ca.pem").starts_with(authorities));
            }
        }
        let after = content(&joined.changed, "server.conf");
        assert_eq!(after.matches("nkey: ").count(), 4, "a, b, the coordinator, and c");
        assert!(after.contains("plimsoll.v1.agent.c.>"), "{after}");
        // Once more, and the older users stay as they are.
        let again = join(&["d".to_owned()], after, authorities, NOW).unwrap();
        let last = content(&again.changed, "server.conf");
        assert!(last.starts_with(config.strip_suffix("  ]\n}\n").unwrap()));
        let taken = join(&["c".to_owned()], after, authorities, NOW).unwrap_err();
        assert_eq!(taken.message, "the name `c` is used twice");
        let reserved = join(&["signing".to_owned()], config, authorities, NOW).unwrap_err();
        assert_eq!(reserved.message, "`signing` is the name of another file");
        let foreign = join(&["c".to_owned()], "port: 4222\n", authorities, NOW).unwrap_err();
        assert!(foreign.message.contains("is not one of `plimsoll cluster init`"), "{}", foreign.message);
    }
}
