//! TLS with a standard self-signed certificate, and the ownership file of such a server.

use crate::support::{Ruler, Scratch, Tool, namespace, run_alongside};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

/// An address reserved for documentation (RFC 5737): public by its range, and never assigned.
const PUBLIC: &str = "203.0.113.5";

/// `openssl s_server`, which serves the files of a folder, with what `openssl req -x509` makes without further words.
struct Stock {
    child: Child,
    port: u16,
    scratch: Scratch,
}

impl Stock {
    /// Port 0 takes a free one.
    fn start(address: &str, port: u16) -> Self {
        let scratch = Scratch::new();
        let made = Command::new("openssl")
            .current_dir(scratch.folder())
            .args(["req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=stock"])
            .args([
                "-addext",
                &format!("subjectAltName=IP:{address}"),
                "-keyout",
                "key.pem",
                "-out",
                "cert.pem",
            ])
            .output()
            .expect("`openssl` is there");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        std::fs::create_dir(scratch.folder().join(".well-known")).unwrap();
        scratch.file(".well-known/plimsoll.txt", &format!("allow: {address}\n"));
        scratch.file("index", "fine");
        let mut child = Command::new("openssl")
            .current_dir(scratch.folder())
            .args([
                "s_server",
                "-accept",
                &format!("{address}:{port}"),
                "-cert",
                "cert.pem",
                "-key",
                "key.pem",
                "-keylogfile",
                "keys",
                "-WWW",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`openssl` is there");
        let lines = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
        // `ACCEPT 127.0.0.1:40123`; of a port that was asked for only `ACCEPT`.
        let mut said = lines.map_while(Result::ok).filter_map(move |line| {
            let taken = line.strip_prefix("ACCEPT")?.rsplit(':').next()?.trim().split(' ').next()?;
            Some(taken.parse().unwrap_or(port))
        });
        let port = said.next().expect("it says where it listens");
        std::thread::spawn(move || said.for_each(drop));
        Self { child, port, scratch }
    }

    fn url(&self, address: &str) -> String {
        format!("https://{address}:{}/index", self.port)
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_stock_self_signed_certificate_is_one_sentence_with_both_ways_out() {
    let server = Stock::start("127.0.0.1", 0);
    let (url, ca) = (server.url("127.0.0.1"), server.scratch.path("cert.pem"));
    let args = [url.as_str(), "-n", "2", "-c", "1", "--no-keepalive", "--json"];
    let refused = Tool::run(&args).expect_code(1);
    for word in ["certificate is not trusted", "self-signed", "`--ca FILE`", "`-k`"] {
        assert!(refused.stderr.contains(word), "`{word}`: {}", refused.stderr);
    }
    let codes = |more: &[&str]| {
        let said = Tool::run(&[&args[..], more].concat()).json();
        assert_eq!(said["totals"]["requests"], 2, "{said:#}");
        said["cautions"].to_string()
    };
    assert!(codes(&["-k"]).contains("certificate_not_verified"));
    assert!(!codes(&["--ca", &ca]).contains("certificate_not_verified"));
}

#[test]
fn plain_http_to_a_port_for_tls_is_one_sentence_before_the_load() {
    // No other process uses this address, so the port is free.
    let [.., high, low] = std::process::id().to_be_bytes();
    let address = format!("127.8.{high}.{}", low.max(1));
    let server = Stock::start(&address, 8443);
    let refused = Tool::run(&[&format!("http://{address}:8443/index"), "-n", "2"]).expect_code(1);
    for word in ["uses TLS", "starts with `http://`", "use `https://`", "use `https://`"] {
        assert!(refused.stderr.contains(word), "`{word}`: {}", refused.stderr);
    }
    assert_eq!(refused.stdout, "");
    drop(server);
    // A server of plain HTTP on such a port answers the handshake with 400 and is loaded.
    let listen = format!("{address}:9443");
    let plain = Ruler::start(&["--listen", &listen]);
    let said = Tool::run(&[&format!("http://{listen}/"), "-n", "20", "--json"]).expect_code(0).json();
    assert_eq!(said["totals"]["requests"], 20);
    assert_eq!(plain.requests(), 20);
}

#[test]
fn the_proof_of_an_https_target_is_fetched_over_tls() {
    let test = "tls::the_proof_of_an_https_target_is_fetched_over_tls";
    namespace::inside(test, &format!("ip addr add {PUBLIC}/32 dev lo"), run_alongside, || {
        let server = Stock::start(PUBLIC, 0);
        let url = server.url(PUBLIC);
        let args = [url.as_str(), "-n", "2", "-c", "1", "--no-keepalive"];
        let trusted = Tool::run(&[&args[..], &["--ca", &server.scratch.path("cert.pem")]].concat());
        let proved = format!("{PUBLIC} allows this load in its ownership file");
        assert!(trusted.stderr.contains(&proved), "{}", trusted.stderr);
        assert_ne!(trusted.code, 4);
        // The ownership file of an untrusted server does not count.
        let strange = Tool::run(&args).expect_code(4);
        assert!(strange.stderr.contains("certificate is not trusted"), "{}", strange.stderr);
    });
}

#[test]
fn keys_are_logged_only_on_request_and_are_those_of_the_server() {
    let server = Stock::start("127.0.0.1", 0);
    let (url, log) = (server.url("127.0.0.1"), server.scratch.path("client-keys"));
    let args = [url.as_str(), "-k", "-n", "6", "-c", "2", "--no-keepalive", "--json"];
    // The variable that browsers read is not enough.
    Tool::new(&args).env("SSLKEYLOGFILE", &log).start().wait();
    assert!(!std::path::Path::new(&log).exists());
    let said = Tool::run(&[&args[..], &["--tls-key-log", &log]].concat()).json();
    assert_eq!(said["totals"]["requests"], 6);
    let text = std::fs::read_to_string(&log).expect("it was written");
    let mut randoms: Vec<&str> = text.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    randoms.sort_unstable();
    randoms.dedup();
    // One handshake before the load.
    assert_eq!(randoms.len() as u64, said["tls"]["handshakes"].as_u64().unwrap() + 1, "{text}");
    for label in ["CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_TRAFFIC_SECRET_0 ", "EXPORTER_SECRET "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(label)).count(), randoms.len(), "{label}");
    }
    let servers =
        std::fs::read_to_string(server.scratch.folder().join("keys")).expect("the server writes it");
    for line in text.lines() {
        assert!(servers.lines().any(|own| own.eq_ignore_ascii_case(line)), "{line}\n{servers}");
    }
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600, "it contains secrets");
    // A file that exists is not added to.
    let taken = Tool::run(&[&args[..], &["--tls-key-log", &log]].concat()).expect_code(2);
    assert!(
        taken.stderr.contains("exists already") && taken.stderr.contains("--tls-key-log"),
        "{}",
        taken.stderr
    );
}
