//! The kernel's cost of a request, and the memory of a connection: measured with strace and with the kernel's memory
//! statistics of this program.
//!
//! The load runs in a child: this test program, started again with its target in the environment.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use plimsoll_engine::{Next, Scene, machine, start, tally};
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Request, Target};
use plimsoll_stats::interval::Interval;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// `address users requests`: the child's task.
const TASK: &str = "PLIMSOLL_TEST_TASK";

/// Runs to the end; `at_tick` is called with every interval.
fn run(
    address: SocketAddr,
    users: u32,
    requests: Option<u64>,
    hold: Option<Duration>,
    mut at_tick: impl FnMut(),
) -> Interval {
    let draft = Draft {
        target: Some(Target { host: address.ip().to_string(), port: address.port(), tls: false }),
        requests: vec![Request {
            origin: 0,
            name: "/".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: vec![],
            body: None,
        }],
        load: LoadDraft {
            users: Some(users),
            requests_total: requests,
            duration_ns: hold.map(|h| h.as_nanos() as u64),
            ..LoadDraft::default()
        },
        workers: Some(1),
        ..Draft::default()
    };
    let plan = seal(draft, Machine { cpus: 1, seed: 1 }).unwrap();
    let mut all = tally::blank(&plan.outline, 0);
    let mut running = start(Arc::new(plan), Scene::at(address)).unwrap();
    loop {
        match running.next(Duration::from_secs(30)) {
            Next::Report(r) => {
                at_tick();
                all.merge(&r.interval);
                running.give_back(r.worker, r.interval);
            }
            Next::Quiet => panic!("the engine sent no report"),
            Next::Ended => break,
        }
    }
    running.finish();
    all
}

/// Returns the resident anonymous memory of this process, bytes.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|l| l.starts_with("RssAnon:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
}

/// Not a test by itself: the child's work.
#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let address: SocketAddr = words[1].parse().unwrap();
    let users: u32 = words[2].parse().unwrap();
    match words[0] {
        "requests" => {
            let n = words[3].parse().unwrap();
            let all = run(address, users, Some(n), None, || {});
            assert_eq!(all.series[0].sums[SeriesSum::Finished.id()], n);
        }
        "memory" => {
            machine::raise_nofile();
            let hold = Duration::from_millis(words[3].parse().unwrap());
            let before = resident_bytes();
            // The first two ticks end in the middle of the run: all connections are open.
            let mut most = 0;
            let all = run(address, users, None, Some(hold), || most = most.max(resident_bytes()));
            let opened = all.run.sums[RunSum::ConnOpened.id()];
            assert_eq!(opened, u64::from(users), "every connection was open");
            let used = most.saturating_sub(before);
            std::fs::write(words[4], used.to_string()).unwrap();
        }
        other => panic!("unknown task `{other}`"),
    }
}

fn this_program() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]);
    command
}

/// Responds to everything; one thread for each of a few connections.
fn answering() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0u8; 4_096];
                while stream.read(&mut buffer).is_ok_and(|n| n > 0) {
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Returns the system calls of the child by name, over all threads.
fn traced(address: SocketAddr, users: u32, requests: u64) -> BTreeMap<String, u64> {
    let file = std::env::temp_dir().join(format!("plimsoll-strace-{}-{requests}", std::process::id()));
    let child = this_program();
    let status = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(&file)
        .arg(child.get_program())
        .args(child.get_args())
        .env(TASK, format!("requests {address} {users} {requests}"))
        .output()
        .expect("strace is needed to count system calls; `cargo xtask needs` installs it");
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    // % time, seconds, usecs/call, calls, [errors,] name
    let rows = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let calls = words.get(3)?.parse().ok()?;
        Some(((*words.last()?).to_owned(), calls))
    });
    rows.filter(|(name, _)| name != "total").collect()
}

#[test]
fn a_request_costs_two_system_calls_and_its_share_of_a_wait() {
    let (users, short, long) = (50, 5_000, 25_000);
    let address = answering();
    let (a, b) = (traced(address, users, short), traced(address, users, long));
    // The slope between two lengths: start, connections, and end cost the same in both.
    let per_request = |name: &str| {
        let count = |calls: &BTreeMap<String, u64>| calls.get(name).copied().unwrap_or(0) as f64;
        (count(&b) - count(&a)) / (long - short) as f64
    };
    let (send, recv) = (per_request("sendto"), per_request("recvfrom"));
    assert!((0.99..=1.01).contains(&send), "{send} writes per request");
    assert!((0.99..=1.01).contains(&recv), "{recv} reads per request");
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let wait: f64 = names.iter().filter(|n| n.starts_with("epoll_")).map(|n| per_request(n)).sum();
    let total: f64 = names.iter().map(|n| per_request(n)).sum();
    let other = total - send - recv - wait;
    // Ticks, clock, and channels: not per request. A run takes longer with strace, so there are a few more ticks.
    assert!(other.abs() < 0.02, "{other} other calls per request: {a:?} {b:?}");
    assert!(total <= 2.2, "{total} system calls per request, of them {wait} waits");
}

#[test]
fn at_full_speed_a_wait_is_shared_by_many_requests() {
    // strace slows the worker down, which then gets more responses per wait than in a real run. Therefore, the worker
    // counts the waits once more without strace: every event-loop iteration is one wait that returned something.
    let all = run(answering(), 100, Some(200_000), None, || {});
    let turns = all.run.sums[RunSum::LoopIterations.id()] as f64 / 200_000.0;
    assert!(turns <= 0.2, "{turns} waits per request");
}

#[test]
fn an_idle_connection_costs_at_most_a_kibibyte_of_user_memory() {
    // A server that accepts and sends nothing: every user waits for its response.
    let nofile = machine::raise_nofile();
    let (few, many) = (1_000u32, 10_000u32);
    assert!(
        nofile.soft > u64::from(many) + 200,
        "this needs {many} open files; the limit is {}",
        nofile.soft
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut held: Vec<std::net::TcpStream> = Vec::new();
        for stream in listener.incoming() {
            // The connections of the previous run have been closed.
            if held.len() == few as usize {
                held.retain(|s| s.set_nonblocking(true).is_ok() && !matches!(s.peek(&mut [0; 4_096]), Ok(0)));
            }
            held.push(stream.unwrap());
        }
    });
    let measure = |users: u32| {
        let file = std::env::temp_dir().join(format!("plimsoll-memory-{}-{users}", std::process::id()));
        let output = this_program()
            // The listener's queue is short and overflows: allow time for a second SYN (after 1 s) and a third (after 3
            // s).
            .env(TASK, format!("memory {address} {users} 6000 {}", file.display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes: f64 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        std::fs::remove_file(&file).unwrap();
        bytes
    };
    let slope = (measure(many) - measure(few)) / f64::from(many - few);
    assert!(slope > 50.0, "{slope} bytes per connection is impossible: nothing was measured");
    assert!(slope <= 1_024.0, "{slope} bytes per connection");
}
