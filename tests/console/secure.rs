//! A console that others can reach: refused without protection, and with it HTTPS and a password.

use crate::support::{BINARY, Scratch, Tool};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

#[test]
fn an_address_that_others_reach_needs_all_of_its_protection() {
    let scratch = Scratch::new();
    let short = scratch.file("short", "password\n");
    readable_by(&short, 0o600);
    for (args, code) in [
        (vec!["serve", "--listen", "0.0.0.0:0"], "U062"),
        (vec!["serve", "--listen", "[::]:0"], "U062"),
        (vec!["serve", "--listen", "0.0.0.0:0", "--tls-cert", "a.pem"], "U061"),
        (vec!["serve", "--listen", "somewhere"], "U060"),
        (
            vec![
                "serve",
                "--listen",
                "0.0.0.0:0",
                "--tls-cert",
                "a",
                "--tls-key",
                "b",
                "--password-file",
                &short,
            ],
            "U063",
        ),
    ] {
        let output = Tool::run(&args).expect_code(2);
        assert!(output.stderr.contains(code), "{args:?}: {}", output.stderr);
    }
}

fn readable_by(file: &str, mode: u32) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_password_that_others_can_read_is_none() {
    let scratch = Scratch::new();
    let password = scratch.file("password", "correct horse battery\n");
    let flags = ["--tls-cert", "a", "--tls-key", "b", "--password-file", &password];
    for mode in [0o644, 0o640, 0o604] {
        readable_by(&password, mode);
        let output = Tool::run(&[&["serve", "--listen", "127.0.0.1:0"][..], &flags].concat()).expect_code(1);
        let said = format!("(mode {mode:04o})");
        assert!(output.stderr.contains(&said) && output.stderr.contains("chmod 600"), "{}", output.stderr);
    }
}

/// A browser cannot open the wildcard address.
#[test]
fn on_all_addresses_the_printed_one_can_be_opened() {
    for (listen, shown) in [("0.0.0.0:0", "127.0.0.1:"), ("[::]:0", "[::1]:")] {
        let mut console = Https::on(listen);
        assert!(console.address.starts_with(shown), "{}", console.address);
        let mut said = String::new();
        BufReader::new(console.child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("from other machines"), "{said}");
    }
}

#[test]
fn a_taken_port_is_a_sentence() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = Tool::run(&["serve", "--listen", &address]).expect_code(1);
    assert!(
        output.stderr.contains("cannot listen on") && output.stderr.contains("127.0.0.1:0"),
        "{}",
        output.stderr
    );
}

/// A console with HTTPS and a password. openssl makes the certificate, and is the browser: a client that shares no code
/// with the server.
struct Https {
    child: Child,
    address: String,
    token: String,
    cert: String,
    _scratch: Scratch,
}

impl Https {
    fn start() -> Self {
        Self::on("127.0.0.1:0")
    }

    fn on(listen: &str) -> Self {
        let scratch = Scratch::new();
        let (cert, key) = (scratch.path("cert.pem"), scratch.path("key.pem"));
        let curve = "ec_paramgen_curve:prime256v1";
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", curve, "-nodes", "-days", "1"])
            .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-keyout", &key, "-out", &cert])
            .stderr(Stdio::null())
            .status()
            .expect("openssl is there");
        assert!(made.success());
        let password = scratch.file("password", "correct horse battery\n");
        readable_by(&password, 0o600);
        let mut child = Command::new(BINARY)
            .args(["serve", "--listen", listen, "--tls-cert", &cert, "--tls-key", &key])
            .args(["--password-file", &password])
            .env("XDG_STATE_HOME", scratch.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().strip_prefix("https://").unwrap().split_once("/?token=").unwrap();
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { child, address, token, cert, _scratch: scratch }
    }

    /// One request, from an address of this machine, and its answer.
    fn ask(&self, from: &str, first: &str, more: &str) -> String {
        let mut client = Command::new("openssl")
            .args(["s_client", "-quiet", "-verify_return_error", "-CAfile", &self.cert])
            .args(["-bind", &format!("{from}:0"), "-connect", &self.address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl is there");
        let head = format!("{first} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        client.stdin.as_mut().unwrap().write_all(format!("{head}{more}").as_bytes()).unwrap();
        let mut answer = String::new();
        client.stdout.as_mut().unwrap().read_to_string(&mut answer).unwrap();
        let _ = client.wait();
        answer
    }

    fn get(&self, path: &str, cookie: &str) -> String {
        self.ask("127.0.0.1", &format!("GET {path}"), &format!("Cookie: {cookie}\r\n\r\n"))
    }

    fn login(&self, from: &str, password: &str) -> String {
        let body = format!("password={}", password.replace(' ', "+"));
        let more = format!(
            "Origin: https://{}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.ask(from, "POST /login", &more)
    }
}

impl Drop for Https {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cookie_of(answer: &str) -> &str {
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    cookie.split(';').next().unwrap()
}

#[test]
fn with_certificate_and_password_it_is_https_with_a_login() {
    let console = Https::start();
    let first = console.get("/", "");
    assert!(first.contains(" 303 ") && first.contains("location: /login"), "{first}");
    // With `no-referrer` a browser would send the form with `Origin: null`.
    assert!(console.get("/login", "").contains("referrer-policy: same-origin"));
    assert!(console.login("127.0.0.1", "correct horse batterx").contains(" 401 "));
    let answer = console.login("127.0.0.1", "correct horse battery");
    assert!(answer.contains("; Secure") && answer.contains("set-cookie: __Host-plimsoll-"), "{answer}");
    assert!(answer.contains("location: /#key="), "{answer}");
    assert!(console.get("/api/state", cookie_of(&answer)).contains(" 200 "));
}

#[test]
fn the_owner_can_log_in_while_another_address_guesses() {
    const RIGHT: &str = "correct horse battery";
    let console = Https::start();
    let session = console.login("127.0.0.1", RIGHT);
    let is_over = AtomicBool::new(false);
    let (looked_at, sent_away) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for guesser in 0..3 {
            let (console, is_over, looked_at, sent_away) = (&console, &is_over, &looked_at, &sent_away);
            scope.spawn(move || {
                for number in 0.. {
                    let answer = console.login("127.0.0.1", &format!("{guesser} {number}"));
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let counter = if answer.contains(" 401 ") { looked_at } else { sent_away };
                    assert!(answer.contains(" 401 ") || answer.contains(" 429 "), "{answer}");
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while sent_away.load(Ordering::Relaxed) < 20 {
            std::thread::yield_now();
        }
        let begin = Instant::now();
        let answers = [
            // A logged-in user, a login from another address, and the printed address.
            (console.get("/api/state", cookie_of(&session)), " 200 "),
            (console.login("127.0.0.3", RIGHT), "location: /#key="),
            (console.get(&format!("/?token={}", console.token), ""), "location: /#key="),
        ];
        let took = begin.elapsed();
        // From the attackers' address, the correct password is not checked, either: otherwise they could continue to
        // guess.
        let held_up = console.login("127.0.0.1", RIGHT);
        is_over.store(true, Ordering::Relaxed);
        for (answer, expected) in answers {
            assert!(answer.contains(expected), "{expected}: {answer}");
        }
        assert!(took.as_secs_f64() < 5.0, "{took:?}");
        assert!(held_up.contains(" 429 ") && held_up.contains("retry-after: "), "{held_up}");
        assert!(held_up.contains("plimsoll serve"), "it says what to do: {held_up}");
    });
    // Three are free; then a wait that doubles from half a second.
    let looked_at = looked_at.load(Ordering::Relaxed);
    assert!((3..=12).contains(&looked_at), "{looked_at} were looked at");
}
