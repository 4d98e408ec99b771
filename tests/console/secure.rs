//! A console that others can reach: refused without protection, and with it HTTPS and a password.

use crate::support::{BINARY, Scratch, Tool};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

#[test]
fn an_address_that_others_reach_needs_all_of_its_protection() {
    let scratch = Scratch::new();
    let short = scratch.file("short", "password\n");
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

/// openssl makes the certificate, and is the browser: a client that shares no code with the server.
#[test]
fn with_certificate_and_password_it_is_https_with_a_login() {
    let scratch = Scratch::new();
    let (cert, key) = (scratch.path("cert.pem"), scratch.path("key.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            &key,
            "-out",
            &cert,
        ])
        .stderr(Stdio::null())
        .status()
        .expect("openssl is there");
    assert!(made.success());
    let password = scratch.file("password", "correct horse battery\n");
    let mut child = Command::new(BINARY)
        .args(["serve", "--listen", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key])
        .args(["--password-file", &password])
        .env("XDG_STATE_HOME", scratch.folder())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test can be started");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("https://").expect("an address").trim_end_matches('/').to_owned();
    let ask = |request: &str| {
        let mut client = Command::new("openssl")
            .args(["s_client", "-quiet", "-verify_return_error", "-CAfile", &cert, "-connect", &address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl is there");
        client.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.stdout.as_mut().unwrap().read_to_string(&mut answer).unwrap();
        let _ = client.wait();
        answer
    };
    let head = format!("HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let first = ask(&format!("GET / {head}\r\n"));
    assert!(first.contains(" 303 ") && first.contains("location: /login"), "{first}");
    let login = |password: &str| {
        let body = format!("password={}", password.replace(' ', "+"));
        ask(&format!(
            "POST /login {head}Origin: https://{address}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    assert!(login("correct horse batterx").contains(" 401 "));
    let answer = login("correct horse battery");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("; Secure"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert!(ask(&format!("GET /api/state {head}Cookie: {pair}\r\n\r\n")).contains(" 200 "));
    child.kill().unwrap();
    child.wait().unwrap();
}
