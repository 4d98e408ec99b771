//! `--wait-for-ready`: the load begins when the service answers.

use crate::support::{Ruler, Scratch, Tool};
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn a_service_that_is_still_starting_is_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/pick", listener.local_addr().unwrap());
    // Three times it is not ready, then it answers everything.
    let server = std::thread::spawn(move || {
        for number in 0..5 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 1_024];
            // The last but one connection is the load's knock: it says nothing.
            if stream.read(&mut bytes).unwrap() == 0 {
                continue;
            }
            let status = if number < 2 { "503 Starting" } else { "200 OK" };
            let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    let args = [&url, "-n", "1", "-c", "1", "--wait-for-ready", "60s", "--json"];
    let output = Tool::run(&args).expect_code(0);
    assert_eq!(output.json()["status_codes"]["200"], 1);
    assert!(output.stderr.contains("waiting for 127.0.0.1:"), "{}", output.stderr);
    server.join().unwrap();
}

#[test]
fn a_service_that_never_answers_ends_it_with_1() {
    let ruler = Ruler::start(&["--status", "503"]);
    let output = Tool::run(&[&ruler.url("/"), "-d", "1s", "--wait-for-ready", "300ms"]).expect_code(1);
    let said = &output.stderr;
    assert!(said.contains("was not ready within 300 ms: the response was 503"), "{said}");
    assert!(said.contains("--wait-for-ready"), "{said}");
    assert!(output.state_files.is_empty());
}

/// A gateway answers for its root before the service itself is ready.
#[test]
fn what_is_asked_is_a_path_of_the_file() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\nload: {{ users: 1, iterations: 1 }}\nscenarios:\n  one:\n    - post: /login\n    \
             - get: '/api?status=502'\n",
            ruler.url("")
        ),
    );
    let output = Tool::run(&["run", &file, "--wait-for-ready", "300ms"]).expect_code(1);
    assert!(output.stderr.contains("was not ready within 300 ms: the response was 502"), "{}", output.stderr);
    assert_eq!(ruler.json("/_test-server/counters")["by_path"].get("/login"), None);
}
