//! Failures that only scenarios and TLS know: what a check says of an answer, how a stream ends, whom a certificate
//! names.

use super::fails;
use crate::help::count;
use crate::provoke::{json, no_faults, only};
use crate::support::peers::{Nginx, Options};
use crate::support::{Ruler, Scratch, run_alongside};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

/// Twenty requests of one user that all meet the same fault, and twenty of the same kind that meet none.
#[track_caller]
fn by_answer(bad: &str, good: &str, class: &str) {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let run = |step: &str, code: i32| {
        let scratch = Scratch::new();
        let text = format!(
            "target: {}\nscenarios: {{ s: [ {step} ] }}\nload: {{ users: 2, iterations: 20 }}\n",
            ruler.url("")
        );
        json(&["run", &scratch.file("plan.yaml", &text)], code)
    };
    let said = run(bad, 99);
    fails(&said);
    assert_eq!(only(&said, class, "server"), 20);
    no_faults(&run(good, 0));
}

#[test]
fn a_check_that_does_not_hold() {
    by_answer(
        "{ get: '/?text=no', check: { body: 'yes' } }",
        "{ get: '/?text=yes', check: { body: 'yes' } }",
        "check_failed",
    );
}

#[test]
fn redirects_without_end() {
    by_answer(
        "{ get: '/?status=302&location=/%3Fstatus%3D302%26location%3D/', redirects: 1, name: r }",
        "{ get: '/?status=302&location=/', redirects: 1, name: r }",
        "too_many_redirects",
    );
}

#[test]
fn a_body_that_is_not_coded_as_it_says() {
    by_answer(
        "{ get: '/?text=hello&header=Content-Encoding:gzip', check: { body: hello } }",
        "{ get: '/?text=hello&encoding=gzip', check: { body: hello } }",
        "decode_failed",
    );
}

#[test]
fn a_stream_that_falls_silent() {
    by_answer(
        "{ get: '/events?every=10s&count=2&first=0s', name: e, stream: { idle_timeout: 100ms } }",
        "{ get: '/events?every=10ms&count=5', name: e, stream: { idle_timeout: 5s } }",
        "stream_idle_timeout",
    );
}

#[test]
fn a_stream_that_the_wrong_side_ends() {
    by_answer(
        "{ get: '/events?every=5ms&count=3', name: e, stream: { events: 100, closed_by: client } }",
        "{ get: '/events?every=5ms&count=3', name: e, stream: { closed_by: server } }",
        "stream_failed",
    );
}

/// The behavior toward connections of the load, which follow the first ones before the load.
enum Behind {
    /// It ends up at another server.
    Elsewhere(SocketAddr),
    /// The response is not TLS.
    Noise,
    /// There is no response.
    Silence,
}

/// Passes the trial connection and the trial handshake on to `first`, and does to all others as told.
fn switch(first: SocketAddr, behind: Behind) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            match &behind {
                _ if number < 2 => join(stream, first),
                Behind::Elsewhere(other) => join(stream, *other),
                Behind::Noise => {
                    // The hello first: bytes left unread would make a reset of the close.
                    let mut hello = [0; 4096];
                    let _ = stream.read(&mut hello);
                    let _ = stream.write_all(b"220 no tls spoken here\r\n");
                }
                Behind::Silence => held.push(stream),
            }
        }
    });
    address
}

/// Carries bytes both ways until one side ends.
fn join(here: TcpStream, other: SocketAddr) {
    let Ok(there) = TcpStream::connect(other) else { return };
    for (mut from, mut to) in [
        (here.try_clone().expect("a second handle"), there.try_clone().expect("a second handle")),
        (there, here),
    ] {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Both);
        });
    }
}

fn nginx() -> (Nginx, SocketAddr) {
    let nginx = Nginx::start(Options::default());
    let address = SocketAddr::from(([127, 0, 0, 1], nginx.ports()[1]));
    (nginx, address)
}

#[track_caller]
fn by_handshake(first: &Nginx, address: SocketAddr, behind: Behind, more: &[&str], class: &str, side: &str) {
    let _turn = run_alongside();
    let port = switch(address, behind).port();
    let ca = first.ca_file();
    let url = |port: u16| format!("https://127.0.0.1:{port}/plain");
    let ca = Path::new(&ca).to_str().expect("a plain path");
    let args = [&["-c", "2", "-d", "600ms", "-t", "1", "--ca", ca], more].concat();
    let said = json(&[&[url(port).as_str()], &args[..]].concat(), 99);
    fails(&said);
    assert!(only(&said, class, side) >= 2);
    assert_eq!(count(&said, "/tls/handshakes"), 0);
    let calm = json(&[&[url(address.port()).as_str()], &args[..]].concat(), 0);
    no_faults(&calm);
    assert_eq!(count(&calm, "/tls/handshakes"), 2);
}

#[test]
fn a_certificate_of_another_host() {
    let (first, address) = nginx();
    // Another nginx has another authority.
    let (_stranger, other) = nginx();
    by_handshake(&first, address, Behind::Elsewhere(other), &[], "certificate_rejected", "server");
}

#[test]
fn a_handshake_answered_by_something_else() {
    let (first, address) = nginx();
    by_handshake(&first, address, Behind::Noise, &[], "tls_failed", "network");
}

#[test]
fn a_handshake_without_an_answer() {
    let (first, address) = nginx();
    let limit = ["--limit", "connect_timeout_ns=100ms"];
    by_handshake(&first, address, Behind::Silence, &limit, "tls_timeout", "network");
}
