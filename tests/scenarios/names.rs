//! Names of hosts: when they are looked up, and which of their addresses are connected to, by the counts of a name
//! server and of the servers themselves.

use crate::support::{Output, Ruler, Running, Scratch, Tool, namespace, run_alongside};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs the tool where these texts are `/etc/hosts` and `/etc/resolv.conf`, which the test may change.
fn tool_with(scratch: &Scratch, hosts: &str, resolver: &str, args: &[&str]) -> Running {
    let hosts = scratch.file("hosts", hosts);
    let resolver = scratch.file("resolv.conf", resolver);
    let is_root = std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0;
    let script =
        "mount --bind \"$0\" /etc/hosts && mount --bind \"$1\" /etc/resolv.conf && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args([if is_root { "-m" } else { "-rm" }, "sh", "-c", script, &hosts, &resolver]);
    command.arg(crate::support::BINARY).args(args);
    Tool::of(command).start()
}

fn names(output: &Output) -> serde_json::Value {
    output.json()["phases"]["dns"].clone()
}

/// Failures by class, with their number.
fn failures(said: &serde_json::Value) -> BTreeMap<String, u64> {
    let rows = said["errors"].as_array().expect("a list");
    rows.iter()
        .map(|row| (row["class"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap()))
        .collect()
}

#[test]
fn each_connection_follows_a_name_to_its_new_address() {
    let one = Ruler::start(&[]);
    let two = Ruler::start(&["--listen", &format!("127.0.0.2:{}", one.port())]);
    let url = format!("http://moves.test:{}/x", one.port());
    for (when, follows) in [("each_connection", true), ("once", false)] {
        let scratch = Scratch::new();
        let before = [one.requests(), two.requests()];
        let args = [&url, "--dns", when, "--no-keepalive", "-c", "2", "-d", "2s", "--json", "--http1.1"];
        let out = scratch.path("run.plim");
        let running = tool_with(&scratch, "127.0.0.1 moves.test\n", "", &[&args[..], &["-o", &out]].concat());
        one.wait_for_requests(before[0] + 20);
        // In place, because the file is mounted, not its name; and without a moment in which it is empty.
        let hosts = std::fs::OpenOptions::new().write(true).open(scratch.path("hosts"));
        hosts.and_then(|mut hosts| hosts.write_all(b"127.0.0.2 moves.test\n")).expect("the file is there");
        let output = running.wait();
        let said = output.json();
        assert_eq!(two.requests() > before[1], follows, "{when}: {said:#}");
        assert_eq!(said["totals"]["errors"], 0, "{when}: {said:#}");
        let attempts = said["client"]["connections"]["attempts"].as_u64();
        match follows {
            true => {
                // Those in progress at the end have no answer.
                let count = names(&output)["count"].as_u64().expect("a number");
                let attempts = attempts.expect("a number");
                assert!((count..=count + 2).contains(&attempts), "{attempts} connections, {count} lookups");
            }
            false => assert!(names(&output).is_null()),
        }
    }
}

#[test]
fn a_name_that_is_gone_is_a_failure_of_its_own() {
    let ruler = Ruler::start(&[]);
    let url = format!("http://goes.test:{}/x", ruler.port());
    let scratch = Scratch::new();
    let args = [&url, "--dns", "each_connection", "--no-keepalive", "-c", "1", "-d", "2s", "--json"];
    let out = scratch.path("run.plim");
    let running = tool_with(&scratch, "127.0.0.1 goes.test\n", "", &[&args[..], &["-o", &out]].concat());
    ruler.wait_for_requests(20);
    // The first address is a metadata service, which is never loaded.
    scratch.file("hosts", "169.254.169.254 goes.test\n");
    let said = running.wait().json();
    let failed = failures(&said);
    assert_eq!(failed.keys().collect::<Vec<_>>(), ["dns_failed"], "{said:#}");
    assert_eq!(said["errors"][0]["side"], "network", "{}", said["errors"]);
    let examples = said["failure_examples"].to_string();
    assert!(examples.contains("169.254.169.254, which the run may not load"), "{examples}");
    assert_eq!(said["status_codes"]["200"].as_u64(), Some(ruler.requests()));
}

/// A name server on port 53 of 127.0.0.1, which knows every name.
struct NameServer {
    /// Questions for IPv4 addresses.
    asked: Arc<AtomicU64>,
    /// What it does before it answers; `None`: it does not answer.
    delay: Arc<Mutex<Option<Duration>>>,
}

impl NameServer {
    fn start() -> NameServer {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 53)).expect("the port is the test's own");
        let (asked, delay) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Some(Duration::ZERO))));
        let (counts, waits) = (Arc::clone(&asked), Arc::clone(&delay));
        std::thread::spawn(move || {
            let mut question = [0; 512];
            // Each answer has its own delay, as from a server with many workers.
            let mut answers: Vec<(Instant, Vec<u8>, SocketAddr)> = Vec::new();
            loop {
                let now = Instant::now();
                for (_, answer, to) in answers.extract_if(.., |(due, ..)| *due <= now) {
                    // The client may be gone.
                    let _ = socket.send_to(&answer, to);
                }
                let next = answers.iter().map(|(due, ..)| *due).min();
                let patience =
                    next.map(|due| due.saturating_duration_since(now).max(Duration::from_micros(1)));
                socket.set_read_timeout(patience).expect("a timeout above 0");
                // Without a question in time, an answer is due.
                let Ok((length, from)) = socket.recv_from(&mut question) else { continue };
                let Some(delay) = *waits.lock().unwrap() else { continue };
                answers.push((Instant::now() + delay, answer(&question[..length], &counts), from));
            }
        });
        NameServer { asked, delay }
    }

    fn set(&self, delay: Option<Duration>) {
        *self.delay.lock().unwrap() = delay;
    }
}

/// Returns the answer to a question (RFC 1035, section 4): 127.0.0.1, valid for an hour, or no IPv6 address.
fn answer(question: &[u8], asked: &AtomicU64) -> Vec<u8> {
    // The name ends with an empty label; type and class follow.
    let end = 12 + question[12..].iter().position(|byte| *byte == 0).expect("a name has an end") + 5;
    let is_v4 = question[end - 4..end - 2] == [0, 1];
    asked.fetch_add(u64::from(is_v4), Ordering::Relaxed);
    let mut answer = question[..end].to_vec();
    // A response without an error, with one question, and one record or none.
    answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0]);
    if is_v4 {
        // The name of the question, type A, class IN, 3,600 s, 4 bytes.
        answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, 127, 0, 0, 1]);
    }
    answer
}

#[test]
fn a_name_server_is_asked_for_each_connection_and_timed() {
    let test = "names::a_name_server_is_asked_for_each_connection_and_timed";
    namespace::inside(test, "", run_alongside, || {
        let (server, ruler, scratch) = (NameServer::start(), Ruler::start(&[]), Scratch::new());
        let url = format!("http://shop.test:{}/x", ruler.port());
        let run = |args: &[&str]| {
            let fixed = [url.as_str(), "--no-keepalive", "--json", "--dns", "each_connection", "--limit"];
            let out = scratch.path("run.plim");
            let _ = std::fs::remove_file(&out);
            let limit = ["connect_timeout_ns=600ms", "-o", &out];
            let args = [&fixed[..], &limit, args].concat();
            tool_with(&scratch, "", "nameserver 127.0.0.1\n", &args)
        };
        // 20 ms for each answer: 8 users make 8 lookups at once, and no worker waits for one.
        server.set(Some(Duration::from_millis(20)));
        let before = server.asked.load(Ordering::Relaxed);
        let begin = Instant::now();
        let said = run(&["-c", "8", "-n", "200", "-t", "1"]).wait().json();
        let took = begin.elapsed();
        let dns = &said["phases"]["dns"];
        assert_eq!((&dns["count"], &said["totals"]["errors"]), (&200.into(), &0.into()), "{said:#}");
        // One more, before the load.
        assert_eq!(server.asked.load(Ordering::Relaxed) - before, 201);
        assert!(dns["p50_ns"].as_u64() >= Some(19_900_000), "{dns}");
        assert!(took < Duration::from_millis(20) * 200, "in sequence it would take {took:?}");
        // A server that falls silent: its lookups time out, and are lower bounds of the response time.
        let running = run(&["-c", "2", "-d", "3s"]);
        ruler.wait_for_requests(220);
        server.set(None);
        let said = running.wait().json();
        assert_eq!(failures(&said).keys().collect::<Vec<_>>(), ["dns_timeout"], "{said:#}");
        assert_eq!(said["errors"][0]["side"], "network");
    });
}

#[test]
fn a_silent_address_does_not_hold_up_the_trial_connection() {
    // One connection is accepted, two wait in the queue, and the kernel drops all further ones.
    let args = ["--max-connections", "1", "--leave-in-backlog", "1", "--backlog", "1"];
    let silent = Ruler::start(&args);
    let port = silent.port();
    let good = Ruler::start(&["--listen", &format!("127.0.0.2:{port}")]);
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let (mut held, mut refused) = (Vec::new(), 0);
    // More than once, because the server may still have to close a connection of its start.
    while refused < 3 {
        match std::net::TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
            Ok(stream) => held.push(stream),
            Err(_) => refused += 1,
        }
        assert!(held.len() < 10, "the queue is never full");
    }
    let scratch = Scratch::new();
    let (url, out) = (format!("http://two.test:{port}/x"), scratch.path("run.plim"));
    let args = [&url, "-n", "20", "-c", "2", "--timeout", "1s", "--json", "-o", &out];
    let begin = Instant::now();
    let said = tool_with(&scratch, "127.0.0.1 two.test\n127.0.0.2 two.test\n", "", &args).wait().json();
    // In sequence, the second would be tried after 10 s.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!((good.requests(), &said["environments"][0]["addresses"][0]), (20, &"127.0.0.2".into()));
}

#[test]
fn contradictions_of_names_and_addresses_are_refused() {
    let url = "http://127.0.0.1:1/x";
    for (words, says) in [
        (&["--dns", "each_connection"][..], &["P041", "no connection has a name to look up"][..]),
        (&["--dns", "always"], &["`once` or `each_connection`"]),
        (&["--addresses", "localhost:80"], &["invalid address `localhost:80`"]),
        (&["--addresses", "127.0.0.1=0"], &["invalid weight `0`"]),
        (&["--addresses", "127.0.0.1,127.0.0.1=2"], &["duplicate address `127.0.0.1`"]),
        (&["--resolve", "127.0.0.2"], &["invalid address of a host"]),
    ] {
        let refused = Tool::run(&[&[url, "-n", "5"][..], words].concat()).expect_code(2);
        for word in says {
            assert!(refused.stderr.contains(word), "`{word}` is not in:\n{}", refused.stderr);
        }
    }
    let args = ["http://shop.test:1/x", "-n", "5", "--dns", "each_connection", "--addresses", "all"];
    let refused = Tool::run(&args).expect_code(2);
    assert!(refused.stderr.contains("each connection looks up its address"), "{}", refused.stderr);
}
