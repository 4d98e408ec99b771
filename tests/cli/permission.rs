//! Public hosts: nothing is sent without permission. All tests run inside network namespaces, in which the public
//! address belongs to the loopback interface.

use crate::support::{Ruler, Tool, namespace, run_alongside};
use std::io::{Read, Write};
use std::net::TcpListener;

/// An address reserved for documentation (RFC 5737): public by its range, and never assigned.
const PUBLIC: &str = "203.0.113.5";

fn with_public_address(test: &str, body: impl FnOnce()) {
    namespace::inside(test, &format!("ip addr add {PUBLIC}/32 dev lo"), run_alongside, body);
}

#[test]
fn without_permission_is_code_4_with_all_three_ways_named_and_no_request_of_the_load() {
    with_public_address(
        "permission::without_permission_is_code_4_with_all_three_ways_named_and_no_request_of_the_load",
        || {
            let ruler = Ruler::start(&["--listen", &format!("{PUBLIC}:0")]);
            let output = Tool::run(&[&ruler.url("/"), "-n", "5", "-c", "1"]).expect_code(4);
            let allow = format!("--allow {PUBLIC}");
            for word in
                [PUBLIC, "public address", &allow, "/.well-known/plimsoll.txt", "type the host's name"]
            {
                assert!(output.stderr.contains(word), "`{word}` is not in:\n{}", output.stderr);
            }
            assert_eq!(output.stdout, "");
            // The look for the ownership file is all that was sent.
            let paths = &ruler.counters()["by_path"];
            assert_eq!(paths, &serde_json::json!({"/.well-known/plimsoll.txt": 1}));
        },
    );
}

#[test]
fn allow_permits_the_host_it_names_and_no_other() {
    with_public_address("permission::allow_permits_the_host_it_names_and_no_other", || {
        let ruler = Ruler::start(&["--listen", &format!("{PUBLIC}:0")]);
        let run =
            |allow: &str| Tool::run(&[&ruler.url("/"), "-n", "5", "-c", "1", "--json", "--allow", allow]);
        run("203.0.113.6").expect_code(4);
        assert_eq!(run(PUBLIC).expect_code(0).json()["totals"]["requests"], 5);
    });
}

#[test]
fn a_monitor_of_a_public_host_needs_the_permission_that_a_load_needs() {
    with_public_address(
        "permission::a_monitor_of_a_public_host_needs_the_permission_that_a_load_needs",
        || {
            let (target, watched) = (Ruler::start(&[]), Ruler::start(&["--listen", &format!("{PUBLIC}:0")]));
            let monitor = format!("prometheus={}", watched.url("/metrics"));
            let url = target.url("/");
            let args = [url.as_str(), "-n", "5", "-c", "1", "--json", "--monitor", &monitor];
            let refused = Tool::run(&args).expect_code(4);
            for word in ["the monitor `", PUBLIC, "public address", &format!("--allow {PUBLIC}")] {
                assert!(refused.stderr.contains(word), "`{word}` is not in:\n{}", refused.stderr);
            }
            assert_eq!((target.requests(), watched.requests()), (0, 0), "neither is asked anything");
            let allowed = Tool::run(&[&args[..], &["--allow", PUBLIC]].concat());
            assert_eq!(allowed.json()["totals"]["requests"], 5);
            assert!(watched.requests() > 0);
        },
    );
}

#[test]
fn the_hosts_own_file_permits_until_it_expires() {
    with_public_address("permission::the_hosts_own_file_permits_until_it_expires", || {
        for (expires, code) in [("2999-12-31", 0), ("2020-01-01", 4)] {
            let port = owner(format!("allow: {PUBLIC}\nexpires: {expires}\n"));
            let url = format!("http://{PUBLIC}:{port}/");
            let output = Tool::run(&[&url, "-n", "3", "-c", "1", "--quiet"]).expect_code(code);
            assert_eq!(output.stderr.contains("expired on 2020-01-01"), code == 4, "{}", output.stderr);
        }
    });
}

/// A server whose every answer is this text, with a connection for each; returns its port.
fn owner(text: String) -> u16 {
    let listener = TcpListener::bind((PUBLIC, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let text = text.clone();
            std::thread::spawn(move || {
                let (mut seen, mut buffer) = (Vec::new(), [0; 4_096]);
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    seen.extend_from_slice(&buffer[..n]);
                    if seen.windows(4).any(|w| w == b"\r\n\r\n") {
                        let head = format!(
                            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                            text.len()
                        );
                        let _ = stream.write_all((head + &text).as_bytes());
                        return;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn a_metadata_service_is_refused_with_every_permission() {
    namespace::inside(
        "permission::a_metadata_service_is_refused_with_every_permission",
        "",
        run_alongside,
        || {
            let args = ["http://169.254.169.254/latest/", "-n", "1", "--allow", "169.254.169.254"];
            let output = Tool::run(&args).expect_code(4);
            assert!(output.stderr.contains("cannot be loaded"), "{}", output.stderr);
        },
    );
}
