//! Memory: constant over time and over requests, small for a plain run, very small for an idle connection; and a fast
//! start.

use crate::help::{is_nightly, number, unless_noisy};
use crate::support::{BINARY, Ruler, Scratch, Tool, alone, run_alongside};
use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Returns a field of `/proc/PID/status` in KiB; None if the process has ended.
fn status_kib(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

/// Twenty seconds (nightly: 15 minutes) of an open model with times and errors of every size: from the tenth second on
/// memory does not grow by more than 2%, although each second makes 2,000 requests and a row of the
/// timeline.
#[test]
fn memory_is_flat_over_a_long_run() {
    let _turn = run_alongside();
    let seconds = if is_nightly() { 900 } else { 20 };
    let ruler = Ruler::start(&["--delay", "exponential:10ms", "--error-rate", "0.01"]);
    let duration = format!("{seconds}s");
    let running =
        Tool::new(&[&ruler.url("/"), "-r", "2000", "--max-connections", "200", "-d", &duration, "--json"])
            .start();
    let begin = Instant::now();
    let mut rss_kib = Vec::new();
    let output = running.watch(Duration::from_secs(1), Duration::from_secs(seconds + 60), |pid| {
        // At the end of the run, the report may use more for a moment.
        if begin.elapsed() < Duration::from_secs(seconds) {
            rss_kib.extend(status_kib(pid, "VmRSS"));
        }
    });
    let said = output.json();
    assert!(number(&said, "/totals/requests") > 1_990.0 * seconds as f64, "{}", said["totals"]);
    let settled = rss_kib[10];
    let most = rss_kib[10..].iter().copied().max().unwrap_or(0);
    let last = rss_kib.last().copied().unwrap_or(0);
    eprintln!("memory: {settled} KiB after 10 s, at most {most} KiB, {last} KiB after {seconds} s");
    assert!(most * 100 <= settled * 102, "from {settled} to {most} KiB: {rss_kib:?}");
}

/// Returns the memory that a process has allocated (heap, stacks, buffers), KiB: anonymous pages of mappings without a
/// file. Those of the executable are addresses that the dynamic linker has entered, so their number depends on the
/// build.
fn allocated_kib(pid: u32) -> Option<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?;
    let (mut of_file, mut sum) = (false, 0);
    for line in maps.lines() {
        match line.strip_prefix("Anonymous:") {
            Some(kib) if !of_file => sum += kib.trim().trim_end_matches(" kB").parse::<u64>().ok()?,
            Some(_) => {}
            // The first line of a mapping: addresses, permissions, offset, device, inode, path.
            None if !line.split_whitespace().next()?.ends_with(':') => of_file = line.contains('/'),
            None => {}
        }
    }
    Some(sum)
}

/// Highest resident memory of a run, report included, KiB: the kernel keeps the peak, and it is read every 2
/// ms until the process has gone. The second figure is the peak of allocated memory, sampled at the same times.
fn peaks_kib(args: &[&str]) -> (u64, u64) {
    let (mut peak, mut own) = (0, 0);
    let running = Tool::new(args).start();
    running.watch(Duration::from_millis(2), Duration::from_secs(30), |pid| {
        peak = peak.max(status_kib(pid, "VmHWM").unwrap_or(0));
        own = own.max(allocated_kib(pid).unwrap_or(0));
    });
    assert!(peak > 0 && own > 0, "the process ended before its memory was read");
    (peak, own)
}

/// What a run allocates has a limit in every build. The rest are pages of the executable, which the kernel shares
/// between processes and reads around what is used: their number depends on the size of the build, so only the release
/// build (`cargo xtask nightly`) has a limit for the sum. `cargo xtask bench plain` compares it with a goal of 16 MiB.
#[test]
fn a_plain_run_with_100_connections_allocates_at_most_4_mib() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let (peak, own) = peaks_kib(&[&ruler.url("/"), "-c", "100", "-d", "3s"]);
    eprintln!("memory: peak of a plain run {peak} KiB, {own} KiB of them allocated");
    assert!(own <= 4 * 1024, "{own} KiB of allocated memory");
    assert!(cfg!(debug_assertions) || peak <= 32 * 1024, "{peak} KiB");
}

#[test]
fn ten_times_the_requests_cost_no_more_memory() {
    let _alone = alone();
    unless_noisy(|| {
        let ruler = Ruler::start(&["--delay", "exponential:2ms"]);
        let run = |rate: &str| {
            peaks_kib(&[&ruler.url("/"), "-r", rate, "--max-connections", "100", "-d", "2s", "--json"]).0
        };
        let (few, many) = (run("500"), run("5000"));
        eprintln!("memory: peak {few} KiB for 1,000 requests, {many} KiB for 10,000");
        // Rare times use more pages of the histograms. This is bounded, as the long run above shows.
        assert!(many * 100 <= few * 110, "{few} KiB for 1,000 requests, {many} KiB for 10,000");
    });
}

/// Connections that wait for an answer that never comes: from 1,000 to 10,000 of them, user memory grows by
/// at most 1 KiB each. What the kernel holds for a socket is not the tool's to save.
#[test]
fn a_connection_that_waits_costs_at_most_1_kib() {
    let _alone = alone();
    let (few, many) = (held_kib(1_000), held_kib(10_000));
    let slope_kib = (many as f64 - few as f64) / 9_000.0;
    eprintln!(
        "memory: {few} KiB with 1,000 idle connections, {many} KiB with 10,000: {slope_kib:.3} KiB each"
    );
    assert!(slope_kib <= 1.1, "{slope_kib:.3} KiB each: {few} KiB with 1,000, {many} KiB with 10,000");
}

/// Returns the resident memory with this many requests in flight, two ticks after the last one was sent.
fn held_kib(connections: u64) -> u64 {
    let ruler = Ruler::start(&["--fault", "no_response", "--backlog", "4096"]);
    let n = connections.to_string();
    let running = Tool::new(&[&ruler.url("/"), "-c", &n, "-d", "60s", "--timeout", "90s", "-q"]).start();
    ruler.wait_for_requests(connections);
    let (pid, mut looks, mut kib) = (running.pid(), 0, 0);
    running.watch(Duration::from_millis(2_100), Duration::from_secs(30), |_| {
        looks += 1;
        if looks == 1 {
            kib = status_kib(pid, "VmRSS").unwrap_or(0);
            kill(pid);
        }
    });
    assert_eq!(ruler.requests(), connections);
    assert!(kib > 0);
    kib
}

/// Sockets that are open and silent: from 1,000 to 10,000 of them, user memory grows by about 1 KiB each.
#[test]
fn a_silent_websocket_costs_about_1_kib() {
    let _alone = alone();
    let (few, many) = (silent_kib(1_000), silent_kib(10_000));
    let slope_kib = (many as f64 - few as f64) / 9_000.0;
    eprintln!("memory: {few} KiB with 1,000 silent sockets, {many} KiB with 10,000: {slope_kib:.3} KiB each");
    assert!(slope_kib <= 1.1, "{slope_kib:.3} KiB each: {few} KiB with 1,000, {many} KiB with 10,000");
}

/// Returns the resident memory with this many open WebSockets, two ticks after the last one was opened.
fn silent_kib(sockets: u64) -> u64 {
    let ruler = Ruler::start(&["--backlog", "4096"]);
    let scratch = Scratch::new();
    let text = format!(
        "target: {}\nscenarios: {{ s: [ {{ connect: /websocket, closed_by: server }} ] }}\n\
         load: {{ users: {sockets}, duration: 60s }}\n",
        ruler.url("")
    );
    let running = Tool::new(&["run", &scratch.file("silent.yaml", &text), "-q"]).start();
    ruler.wait_for_requests(sockets);
    let (pid, mut looks, mut kib) = (running.pid(), 0, 0);
    running.watch(Duration::from_millis(2_100), Duration::from_secs(30), |_| {
        looks += 1;
        if looks == 1 {
            kib = status_kib(pid, "VmRSS").unwrap_or(0);
            kill(pid);
        }
    });
    assert_eq!(ruler.counters()["websockets_opened"], sockets);
    assert!(kib > 0);
    kib
}

fn kill(pid: u32) {
    let status = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(status.expect("`kill` can be started").success());
}

/// From the start of the process to the first byte at the server, as a person waits for it: probing the
/// target, opening the run file and starting the workers included.
#[test]
fn the_first_byte_leaves_within_30_ms() {
    let _alone = alone();
    unless_noisy(|| {
        let mut took_ms: Vec<f64> = (0..9).map(|_| first_byte_ms()).collect();
        took_ms.sort_by(f64::total_cmp);
        eprintln!(
            "start: first byte after {:.1} ms (median; {:.1} to {:.1})",
            took_ms[4], took_ms[0], took_ms[8]
        );
        assert!(took_ms[4] <= 30.0, "{took_ms:?}");
    });
}

fn first_byte_ms() -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let (stamps, first) = channel();
    std::thread::spawn(move || accept(&listener, &stamps));
    let state = Scratch::new();
    let begin = Instant::now();
    let mut child = Command::new(BINARY)
        .args([&format!("http://{address}/"), "-c", "100", "-d", "1s"])
        .env("XDG_STATE_HOME", state.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary under test can be started");
    let stamp = first.recv_timeout(Duration::from_secs(5));
    child.kill().expect("it runs for a second");
    child.wait().expect("a child can be waited for");
    stamp.expect("a byte within 5 s").duration_since(begin).as_secs_f64() * 1e3
}

/// Timestamps the first byte of any connection. The first connection is only a trial, so each has a thread.
fn accept(listener: &TcpListener, stamps: &Sender<Instant>) {
    // Ends with the test's process.
    while let Ok((mut stream, _)) = listener.accept() {
        let stamps = stamps.clone();
        std::thread::spawn(move || {
            if matches!(stream.read(&mut [0]), Ok(1)) {
                // Only the first timestamp matters.
                let _ = stamps.send(Instant::now());
            }
        });
    }
}
