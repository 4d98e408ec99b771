//! TLS settings, by the log of nginx: which versions, suites, and sessions its clients used.

use crate::support::peers::{LogLine, Nginx, Options};
use crate::support::{Output, Scratch, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One user whose requests have a connection each.
const EACH: &str = "connection: { reuse: request, http: 1.1 }\nworkers: 1\nscenarios: { one: [ { get: /plain } ] }\n\
                    load: { users: 1, iterations: 10 }\n";

/// Runs [`EACH`] with these settings of TLS.
fn run(nginx: &Nginx, tls: &str) -> Output {
    let scratch = Scratch::new();
    let ca = nginx.ca_file().display().to_string();
    let text = format!("target: {}\ntls: {{ ca: {ca}{tls} }}\n{EACH}", nginx.https_url(""));
    let file = scratch.file("experiment.yaml", &text);
    Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")])
}

/// The lines of the last 10 requests, of which `before` there were earlier ones.
fn ten_more(nginx: &Nginx, before: &mut usize) -> Vec<LogLine> {
    *before += 10;
    let lines = nginx.wait_for_log_lines(*before);
    assert_eq!(lines.len(), *before);
    lines[*before - 10..].to_vec()
}

#[test]
fn only_the_named_cipher_suites_are_offered_in_their_order() {
    let nginx = Nginx::start(Options::default());
    let mut before = 0;
    for (tls, version, cipher) in [
        // The server has a key on a curve, and no preference.
        (
            "versions: \"1.2\", ciphers: [ECDHE-ECDSA-CHACHA20-POLY1305, ECDHE-ECDSA-AES128-GCM-SHA256]",
            "TLSv1.2",
            "ECDHE-ECDSA-CHACHA20-POLY1305",
        ),
        (
            "versions: \"1.2\", ciphers: ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305",
            "TLSv1.2",
            "ECDHE-ECDSA-AES128-GCM-SHA256",
        ),
        ("ciphers: TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("ciphers: TLS_CHACHA20_POLY1305_SHA256", "TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"),
        ("versions: 1.2-1.3, ciphers: [TLS_AES_128_GCM_SHA256]", "TLSv1.3", "TLS_AES_128_GCM_SHA256"),
    ] {
        let output = run(&nginx, &format!(", {tls}"));
        assert_eq!(output.json()["totals"]["errors"], 0, "{tls}: {}", output.stderr);
        for line in ten_more(&nginx, &mut before) {
            assert_eq!((line.tls.as_deref(), line.cipher.as_deref()), (Some(version), Some(cipher)), "{tls}");
        }
    }
    // A server that has none of them ends the handshake before the load.
    let other = Options {
        protocols: vec!["TLSv1.2"],
        ciphers: Some("ECDHE-ECDSA-AES256-GCM-SHA384"),
        ..Options::default()
    };
    let other = Nginx::start(other);
    let refused = run(&other, ", ciphers: ECDHE-ECDSA-AES128-GCM-SHA256").expect_code(1);
    assert!(refused.stderr.contains("no common cipher suite"), "{}", refused.stderr);
    assert_eq!(other.log_lines(), []);
}

#[test]
fn sessions_are_resumed_by_id_without_tickets() {
    let by_id = Options {
        protocols: vec!["TLSv1.2"],
        session_tickets: false,
        session_cache: true,
        ..Options::default()
    };
    let by_ticket = Options { session_tickets: true, session_cache: false, ..by_id.clone() };
    for (options, kind, most) in [
        (&by_id, "session_id", 10),
        (&by_id, "true", 10),
        (&by_ticket, "session_id", 0),
        (&by_ticket, "true", 10),
    ] {
        let nginx = Nginx::start(options.clone());
        let output = run(&nginx, &format!(", versions: \"1.2\", session_resumption: {kind}"));
        let resumed = ten_more(&nginx, &mut 0).iter().filter(|line| line.session_reused).count();
        // The first has nothing to resume, unless the trial before the load has left it a session.
        let range = if most == 0 { 0..=0 } else { 9..=10 };
        assert!(range.contains(&resumed), "{kind} {options:?}: {resumed}");
        assert_eq!(output.json()["tls"]["resumptions"], resumed, "{kind}");
    }
}

#[test]
fn a_server_without_http2_is_named_as_such() {
    let nginx = Nginx::start(Options::default());
    let (ca, url) = (nginx.ca_file().display().to_string(), nginx.https_url("/plain"));
    for wait in [&[][..], &["--wait-for-ready", "20s"]] {
        let args = [&[&url, "--ca", &ca, "--http2", "-n", "5"][..], wait].concat();
        let refused = Tool::run(&args).expect_code(1);
        assert!(
            refused.stderr.contains("HTTP/2") && refused.stderr.contains("--http2"),
            "{}",
            refused.stderr
        );
        assert!(!refused.stderr.contains("no_application_protocol"), "{}", refused.stderr);
    }
}

#[test]
fn settings_of_tls_are_flags_as_well() {
    let nginx = Nginx::start(Options::default());
    let (ca, url) = (nginx.ca_file().display().to_string(), nginx.https_url("/plain"));
    let args = [
        url.as_str(),
        "--ca",
        &ca,
        "-c1",
        "-n10",
        "-t1",
        "--no-keepalive",
        "--http1.1",
        "--json",
        "--tls-versions",
        "1.2",
        "--ciphers",
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "--session-resumption",
        "true",
    ];
    let said = Tool::run(&args).json();
    let lines = ten_more(&nginx, &mut 0);
    assert!(lines.iter().all(|line| line.cipher.as_deref() == Some("ECDHE-ECDSA-AES128-GCM-SHA256")));
    assert!(said["tls"]["resumptions"].as_u64() >= Some(9), "{}", said["tls"]);

    for (words, says) in [
        (&["--ciphers", "AES128-SHA"][..], &["`AES128-SHA`", "ECDHE-RSA-AES128-GCM-SHA256"][..]),
        (&["--ciphers", "HIGH:!aNULL"], &["`HIGH`", "names of suites", "TLS_AES_128_GCM_SHA256"]),
        (&["--tls-versions", "1.1"], &["TLS 1.1 is not supported", "RFC 8996"]),
        (&["--tls-versions", "1.2", "--ciphers", "TLS_AES_128_GCM_SHA256"], &["belongs to TLS 1.3"]),
        (&["--session-resumption", "session_id"], &["only TLS 1.2 resumes sessions by their ID"]),
        (&["--session-resumption", "yes"], &["`yes`", "`session_id`"]),
    ] {
        let refused = Tool::run(&[&[url.as_str(), "-n", "5"][..], words].concat()).expect_code(2);
        for word in says {
            assert!(refused.stderr.contains(word), "`{word}` is not in:\n{}", refused.stderr);
        }
    }
    let plain = nginx.http_url("/plain");
    let refused = Tool::run(&[&plain, "-n", "5", "--ciphers", "TLS_AES_128_GCM_SHA256"]).expect_code(2);
    assert!(refused.stderr.contains("plain HTTP"), "{}", refused.stderr);
}

/// The serial numbers of the client certificates of each user, by the query `u`.
fn serials_of(lines: &[LogLine]) -> BTreeMap<usize, BTreeSet<String>> {
    let mut all: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        let user = line.request.split("u=").nth(1).and_then(|rest| rest.split(' ').next());
        let user = user.and_then(|user| user.parse().ok()).expect("a number");
        assert_eq!((line.status, line.client_verify.as_deref()), (200, Some("SUCCESS")), "{line:?}");
        all.entry(user).or_default().insert(line.client_serial.clone().expect("a certificate"));
    }
    all
}

#[test]
fn each_user_shows_its_own_client_certificate() {
    let nginx = Nginx::start(Options::default());
    let clients = nginx.pki().clients(3);
    let list = |which: fn(&(PathBuf, PathBuf, String)) -> &PathBuf| {
        clients.iter().map(|one| which(one).display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let tls = format!(
        "ca: {}, certificate: [{}], key: [{}]",
        nginx.ca_file().display(),
        list(|one| &one.0),
        list(|one| &one.1)
    );
    let mut before = 0;
    let mut run = |reuse: &str, more: &str, load: &str, number: usize| {
        let scratch = Scratch::new();
        let text = format!(
            "target: {}\ntls: {{ {tls}{more} }}\nconnection: {{ reuse: {reuse}, http: 1.1 }}\nworkers: 2\n\
             scenarios: {{ one: [ {{ get: \"/plain?u=${{user}}\" }} ] }}\nload: {load}\n",
            nginx.client_verify_url("")
        );
        let file = scratch.file("experiment.yaml", &text);
        let output = Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")]);
        assert_eq!(output.json()["totals"]["errors"], 0, "{}", output.stderr);
        before += number;
        let lines = nginx.wait_for_log_lines(before);
        assert_eq!(lines.len(), before);
        lines[before - number..].to_vec()
    };
    // User N has certificate N, beginning again after the last: also if it opens a connection for each request, and if
    // it resumes sessions, which contain the certificate.
    for (reuse, more) in [("user", ""), ("request", ""), ("request", ", session_resumption: true")] {
        let lines = run(reuse, more, "{ users: 7, iterations_per_user: 4 }", 28);
        let users = serials_of(&lines);
        assert_eq!(users.len(), 7, "{users:?}");
        let first = *users.keys().next().expect("a user");
        for (user, serials) in users {
            let own = BTreeSet::from([clients[(user - first) % 3].2.clone()]);
            assert_eq!(serials, own, "user {user}, {reuse}{more}");
        }
        let resumed = lines.iter().filter(|line| line.session_reused).count();
        assert_eq!(resumed > 0, !more.is_empty(), "{reuse}{more}: {resumed}");
    }
    // Arrivals have no identity: each connection takes the next certificate.
    let lines = run("request", "", "{ total_arrivals: 30, duration: 1s }", 30);
    let mut of: BTreeMap<String, usize> = BTreeMap::new();
    lines
        .iter()
        .for_each(|line| *of.entry(line.client_serial.clone().expect("a certificate")).or_default() += 1);
    // Each of two workers makes whole rounds, and a part of one.
    assert!(of.len() == 3 && of.values().all(|number| (8..=12).contains(number)), "{of:?}");
}

#[test]
fn client_certificates_are_flags_as_well() {
    let nginx = Nginx::start(Options::default());
    let (ca, url) = (nginx.ca_file().display().to_string(), nginx.client_verify_url("/plain"));
    let clients = nginx.pki().clients(2);
    let files: Vec<String> =
        clients.iter().flat_map(|one| [&one.0, &one.1]).map(|p| p.display().to_string()).collect();
    let args = [
        url.as_str(),
        "--ca",
        &ca,
        "--http1.1",
        "--cert",
        &files[0],
        "--key",
        &files[1],
        "--cert",
        &files[2],
        "--key",
        &files[3],
        "-c4",
        "-n40",
        "--json",
    ];
    assert_eq!(Tool::run(&args).json()["totals"]["errors"], 0);
    let lines = nginx.wait_for_log_lines(40);
    let mut connections: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for line in &lines {
        let serial = line.client_serial.clone().expect("a certificate");
        connections.entry(serial).or_default().insert(line.connection);
    }
    let numbers: Vec<usize> = clients.iter().map(|one| connections[&one.2].len()).collect();
    assert_eq!(numbers, [2, 2], "{connections:?}");

    let refused = Tool::run(&args[..10]).expect_code(2);
    assert!(refused.stderr.contains("2 client certificates but 1 key"), "{}", refused.stderr);
    let streams = Tool::run(&[&args[..12], &["--streams", "2"]].concat()).expect_code(2);
    assert!(streams.stderr.contains("its own client certificate"), "{}", streams.stderr);
}
