//! Real servers for the tests of monitors: each on a free port, and each ends with its test, even if that is killed.
#![allow(dead_code, clippy::expect_used)]

use plimsoll_control::monitor::{Found, Moment, MonitorError, PATIENCE, Probe, Trust, probe};
use plimsoll_plan::watch::{Source, Watch};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Long enough for a busy machine with a cold disk.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Returns a port without a listener, below the ephemeral range: until the server starts, no listener of another test
/// can get it from the kernel.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 97 + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 12_000 + (number % 20_000) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// A directory that is removed with the test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-monitor-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("the temporary directory is writable");
        Scratch(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server process. The kernel ends it when the thread of its test ends for any reason.
pub struct Server {
    child: Child,
    /// The signal that ends it cleanly.
    end: &'static str,
    lines: Receiver<String>,
}

impl Server {
    /// Starts `words` (preceded by options of setpriv) and waits for a line that contains `ready`.
    pub fn start(options: &[&str], words: &[&str], end: &'static str, ready: &str) -> Server {
        let mut command = Command::new("setpriv");
        command.arg(format!("--pdeathsig={end}")).args(options).arg("--").args(words);
        // Programs print it to either stream; the shell's redirection merges them.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("setpriv of util-linux is installed");
        let (tell, lines) = channel();
        let stdout: Box<dyn Read + Send> = Box::new(child.stdout.take().expect("it is a pipe"));
        let stderr: Box<dyn Read + Send> = Box::new(child.stderr.take().expect("it is a pipe"));
        for stream in [stdout, stderr] {
            let tell = tell.clone();
            std::thread::spawn(move || {
                // Reads to the end, or a verbose server would block.
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = tell.send(line);
                }
            });
        }
        drop(tell);
        let server = Server { child, end, lines };
        server.wait_for(ready);
        server
    }

    pub fn wait_for(&self, ready: &str) {
        let deadline = Instant::now() + DEADLINE;
        let mut said = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(ready) => return,
                Ok(line) => said.push(line),
                Err(_) => panic!("it never printed `{ready}` but:\n{}", said.join("\n")),
            }
        }
    }

    /// Stops it in the middle of its work.
    pub fn freeze(&self) {
        freeze(self.child.id());
    }

    pub fn thaw(&self) {
        thaw(self.child.id());
    }

    /// Ends it and waits until it has exited.
    pub fn stop(mut self) {
        self.end_it();
    }

    fn end_it(&mut self) {
        let order = format!("kill -{} {pid}; kill -CONT {pid}", self.end, pid = self.child.id());
        let _ = Command::new("sh").args(["-c", &order]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end_it();
    }
}

/// Returns when each of its threads has stopped: the kernel stops them one by one.
pub fn freeze(pid: u32) {
    signal("STOP", pid);
    let deadline = Instant::now() + DEADLINE;
    let stopped = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // The state follows the name, which may contain spaces and brackets.
        text.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['T', 't']))
    };
    loop {
        let mut tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it lives");
        if tasks.all(|task| task.is_ok_and(stopped)) {
            return;
        }
        assert!(Instant::now() < deadline, "{pid} does not stop");
        std::thread::yield_now();
    }
}

pub fn thaw(pid: u32) {
    signal("CONT", pid);
}

fn signal(name: &str, pid: u32) {
    let order = format!("kill -{name} {pid}");
    assert!(Command::new("sh").args(["-c", &order]).status().expect("sh is installed").success());
}

/// A probe with its own clock: each sample is one second after the last successful one.
pub struct Looking {
    probe: Box<dyn Probe>,
    seconds: u64,
}

impl Looking {
    pub fn at(source: Source) -> Looking {
        Looking::trusting(source, &Trust::default())
    }

    /// Trusts other certificates than the public authorities.
    pub fn trusting(source: Source, trust: &Trust) -> Looking {
        Looking { probe: probe(&Watch { name: "under test".into(), source, on: None }, trust), seconds: 0 }
    }

    /// Takes one sample.
    pub fn look(&mut self) -> Result<Found, MonitorError> {
        self.timed_look().0
    }

    fn timed_look(&mut self) -> (Result<Found, MonitorError>, Duration) {
        let second = self.seconds + 1;
        let begin = Instant::now();
        let found = self.probe.look(Moment { now_ns: second * 1_000_000_000 });
        let took = begin.elapsed();
        assert!(took < DEADLINE / 10, "a look took {took:?}");
        if let Ok(found) = &found {
            self.seconds = second;
            sound(found);
        }
        (found, took)
    }

    /// Takes samples until one succeeds: a machine that runs nine builds may respond too late once.
    pub fn sees(&mut self) -> Found {
        self.until("an answer", |_| true)
    }

    pub fn until(&mut self, what: &str, holds: impl Fn(&Found) -> bool) -> Found {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match self.look() {
                Ok(found) if holds(&found) => return found,
                other if Instant::now() > deadline => panic!("no {what}, but {other:?}"),
                _ => std::thread::yield_now(),
            }
        }
    }

    /// Returns the error of a sample, which must come within the time limit. A thread that waited for a CPU is not a
    /// fault of the probe, so it has three tries.
    pub fn fails(&mut self) -> String {
        for _ in 0..3 {
            let (found, took) = self.timed_look();
            let why = found.expect_err("the sample fails").0;
            if took < PATIENCE {
                return why;
            }
        }
        panic!("three samples in a row took longer than {PATIENCE:?}");
    }
}

/// Checks every sample: names are unique, numbers are finite and never -0, and facts have no line ends.
fn sound(found: &Found) {
    let mut names: Vec<_> = found.readings.iter().map(|r| (&r.part, &r.metric)).collect();
    names.sort();
    let many = names.len();
    names.dedup();
    assert_eq!(names.len(), many, "a name occurs twice: {found:?}");
    let plain = |value: f64| value.is_finite() && !(value == 0.0 && value.is_sign_negative());
    assert!(found.readings.iter().all(|r| plain(r.value)), "{found:?}");
    assert!(found.facts.iter().all(|(_, value)| !value.contains('\n')), "{found:?}");
}

/// Returns the value of one reading.
pub fn value(found: &Found, part: &str, metric: &str) -> Option<f64> {
    found.readings.iter().find(|r| r.part == part && r.metric == metric).map(|r| r.value)
}

pub fn limit(found: &Found, part: &str, metric: &str) -> Option<f64> {
    found.readings.iter().find(|r| r.part == part && r.metric == metric)?.limit
}

pub fn fact<'a>(found: &'a Found, name: &str) -> Option<&'a str> {
    found.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// A listener whose connections the kernel accepts, and which never sends anything.
pub fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
    let port = listener.local_addr().expect("it is bound").port();
    (listener, port)
}

/// Responds without an end, byte by byte: each byte arrives in time, but the response never completes.
pub fn dripping(beginning: &'static [u8]) -> u16 {
    let (listener, port) = silent();
    std::thread::spawn(move || {
        let (_never, pause) = channel::<()>();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut well = stream.write_all(beginning).is_ok();
            while well {
                let _ = pause.recv_timeout(Duration::from_millis(50));
                well = stream.write_all(b"1").is_ok();
            }
        }
    });
    port
}

/// A listener whose queue is full: the kernel drops all connection attempts, as a network that loses packets does.
/// The connections that fill it must be kept.
pub fn deaf() -> (TcpListener, Vec<TcpStream>, u16) {
    let (listener, port) = silent();
    let mut held = Vec::new();
    let address = (Ipv4Addr::LOCALHOST, port).into();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        held.push(stream);
        assert!(held.len() < 20_000, "the queue of a listener is finite");
    }
    (listener, held, port)
}

/// Serves one page after another on one address, as whole responses, and repeats the last one.
pub fn pages(answers: Vec<Vec<u8>>) -> u16 {
    let (listener, port) = silent();
    std::thread::spawn(move || {
        let mut answers = answers.into_iter().peekable();
        let mut last = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(stream);
            loop {
                let mut request = String::new();
                while !request.ends_with("\r\n\r\n") {
                    if lines.read_line(&mut request).unwrap_or(0) == 0 {
                        break;
                    }
                }
                if !request.ends_with("\r\n\r\n") {
                    break;
                }
                last = answers.next().unwrap_or(last);
                // A response without a length ends with its connection.
                let whole = last.windows(10).any(|ten| ten.eq_ignore_ascii_case(b"\r\ncontent-"))
                    || last.windows(10).any(|ten| ten.eq_ignore_ascii_case(b"\r\ntransfer"));
                if lines.get_mut().write_all(&last).is_err() || !whole {
                    break;
                }
            }
        }
    });
    port
}

/// An ordinary response.
pub fn page(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
