//! Client certificates from key stores.
//!
//! The files of `keys` have the password `secret`. `keytool -importkeystore` of Java 17 has written `java.p12`, with
//! two keys, and `java.jks`; `openssl pkcs12 -export` of OpenSSL 3 the others: `old.p12` with `-legacy`, `plain.p12`
//! without encryption.

use crate::jmx;
use crate::plans::Folder;
use plimsoll_jmx::{Given, read};
use plimsoll_plan::Diagnostic;
use std::path::Path;

/// A plan with more elements, each on its line.
fn plan_with(elements: &str) -> String {
    let elements = if elements.is_empty() { String::new() } else { format!("  {elements}\n") };
    jmx::plan(&format!(
        "TestPlan p\n{elements}  ThreadGroup g | threads=1 | loops=1\n    HTTPSamplerProxy a | domain=h | path=/\n"
    ))
}

/// Returns the certificates, with their keys, of a plan that is started with a key store of this name.
fn clients(elements: &str, store: &str, password: &str) -> Result<Vec<[String; 2]>, Vec<Diagnostic>> {
    let name = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys").join(store);
    let pairs = [("keyStore", name.to_str().unwrap()), ("keyStorePassword", password)];
    let system = pairs.map(|(name, value)| (format!("javax.net.ssl.{name}"), value.to_owned()));
    let given = Given { system: system.into(), ..Given::default() };
    let folder = Folder::new();
    let clients = read(&folder.file("a.jmx", &plan_with(elements)), &given)?.plan.tls_files.clients;
    let texts =
        clients.into_iter().map(|one| [one.certificate, one.key].map(|pem| String::from_utf8(pem).unwrap()));
    Ok(texts.collect())
}

fn mistake(elements: &str, store: &str, password: &str) -> String {
    let wrong = clients(elements, store, password).unwrap_err().swap_remove(0);
    format!("{}; {}", wrong.message, wrong.hint)
}

#[test]
fn stores_of_java_and_openssl_are_read() {
    let first = clients("", "java.p12", "secret").unwrap();
    let other = clients("", "openssl.p12", "secret").unwrap();
    assert_eq!((first.len(), &first), (1, &other));
    assert_eq!(clients("", "plain.p12", "").unwrap(), first);
    let [certificate, key] = &first[0];
    assert_eq!(certificate.matches("-----BEGIN CERTIFICATE-----\n").count(), 1);
    assert!(key.starts_with("-----BEGIN PRIVATE KEY-----\n"));
}

#[test]
fn keystore_configuration_chooses_keys() {
    let chosen = |settings: &str| {
        clients(&format!("KeystoreConfig keys{settings}"), "java.p12", "secret").unwrap().len()
    };
    assert_eq!(chosen(""), 2);
    assert_eq!(chosen(" | startIndex=1"), 1);
    assert_eq!(chosen(" | startIndex=0 | endIndex=0"), 1);
    assert_eq!(chosen(" | startIndex=0 | endIndex=-1"), 2);
    assert_eq!(chosen(" | endIndex=0 | clientCertAliasVarName=alias"), 1);
}

#[test]
fn what_cannot_be_read_is_named_with_its_conversion() {
    assert!(mistake("", "java.p12", "wrong").contains("the password of the key store"));
    assert!(mistake("", "old.p12", "secret").contains("openssl pkcs12 -legacy -in "));
    assert!(mistake("", "java.jks", "secret").contains("keytool -importkeystore -srckeystore "));
    assert!(mistake("", "../keys.rs", "secret").contains("is not in PKCS #12"));
    let configured = |settings: &str| format!("KeystoreConfig keys{settings}");
    assert!(
        mistake(&configured(" | startIndex=7"), "java.p12", "secret")
            .contains("has 2 keys, and none from index 7")
    );
    assert!(
        mistake(&configured(" | clientCertAliasVarName=x"), "java.p12", "secret")
            .contains("names the key of each")
    );
    assert!(
        mistake(&configured(" | startIndex=one"), "java.p12", "secret").contains("not the index of a key")
    );
}

#[test]
fn keystore_configuration_needs_a_store_or_a_certificate() {
    let folder = Folder::new();
    let file = folder.file("a.jmx", &plan_with("KeystoreConfig keys"));
    let wrong = read(&file, &Given::default()).unwrap_err().swap_remove(0);
    assert!(wrong.message.contains("none is named (KeystoreConfig p > "), "{}", wrong.message);
    assert!(read(&file, &Given { has_certificate: true, ..Given::default() }).is_ok());
}

#[test]
fn cut_and_changed_stores_are_mistakes() {
    let folder = Folder::new();
    let store = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys/openssl.p12")).unwrap();
    let plan = folder.file("a.jmx", &plan_with(""));
    let name = folder.0.join("cut.p12");
    let system =
        [("javax.net.ssl.keyStore", name.to_str().unwrap()), ("javax.net.ssl.keyStorePassword", "secret")];
    let system = system.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let given = Given { system, ..Given::default() };
    for length in (0..store.len() - 100).step_by(37) {
        std::fs::write(&name, &store[..length]).unwrap();
        assert!(read(&plan, &given).is_err(), "{length}");
    }
    // The checksum at the end is not compared; every other byte may be wrong without a panic.
    for at in (0..store.len()).step_by(29) {
        let mut changed = store.clone();
        changed[at] ^= 0xff;
        std::fs::write(&name, changed).unwrap();
        let _ = read(&plan, &given);
    }
}
