//! The ruler as a child: commanded by its own small HTTP, asked for what it saw.

use super::BINARY;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A ruler starts and ends within milliseconds; on a busy machine, within seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with configurable behavior; ends when this value is dropped, or with the test if that is killed.
pub struct Ruler {
    address: SocketAddr,
    child: Child,
    stdin: Option<ChildStdin>,
    /// Its output lines; closed when it ends. The lock only exists so that threads can share a ruler.
    lines: Mutex<Receiver<String>>,
}

impl Ruler {
    /// Starts one on a free port; `args` as in `testbed/ruler/README.md`.
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command
            .args(["test-server", "--listen", "127.0.0.1:0", "--until-stdin-closes", "--seconds", "1800"])
            .args(args);
        Self::from_command(command)
    }

    /// For a ruler inside a network namespace: any command that ends up as a ruler on this stdin and stdout.
    pub fn from_command(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary under test can be started");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            // Reads to the end of the pipe even after the test, when the channel is closed.
            BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
        });
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|e| {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the ruler did not say where it listens: {e}");
        });
        let address = line.trim().strip_prefix("listening on ").and_then(|a| a.parse().ok());
        let address = address.unwrap_or_else(|| panic!("the ruler said `{}`", line.trim()));
        Self { address, child, stdin, lines: Mutex::new(lines) }
    }

    /// Returns the `https` URL of a ruler with `--tls-listen`, from its second line. Works once.
    pub fn https_url(&self, path: &str) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.recv_timeout(PATIENCE).expect("the ruler prints its second address");
        let address = line.trim().strip_prefix("listening with TLS on ");
        format!("https://{}{path}", address.unwrap_or_else(|| panic!("the ruler said `{line}`")))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:PORT` with this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The id of the process, to look at it or to signal it.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One GET; the body of the answer.
    pub fn get(&self, path: &str) -> Vec<u8> {
        let mut stream =
            TcpStream::connect_timeout(&self.address, Duration::from_secs(5)).expect("the ruler listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: ruler\r\n\r\n").expect("the ruler reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the ruler answers");
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("the answer has a head");
        assert!(
            answer.starts_with(b"HTTP/1.") && answer[8..].starts_with(b" 200"),
            "{path}: {}",
            String::from_utf8_lossy(&answer)
        );
        answer.split_off(end + 4)
    }

    pub fn json(&self, path: &str) -> serde_json::Value {
        serde_json::from_slice(&self.get(path)).expect("the ruler speaks JSON")
    }

    /// `/_test-server/set?...`
    pub fn set(&self, query: &str) {
        self.get(&format!("/_test-server/set?{query}"));
    }

    /// `/_test-server/counters`
    pub fn counters(&self) -> serde_json::Value {
        self.json("/_test-server/counters")
    }

    /// Whole requests received so far.
    pub fn requests(&self) -> u64 {
        self.counters()["requests"].as_u64().expect("a count")
    }

    /// Connections accepted so far, the ones used for asking left out.
    pub fn accepted(&self) -> u64 {
        self.counters()["accepted"].as_u64().expect("a count")
    }

    /// The last request as it came over the wire.
    pub fn last_request(&self) -> String {
        String::from_utf8_lossy(&self.get("/_test-server/last_request")).into_owned()
    }

    /// Blocks until at least this many requests have arrived. Polls over one connection, which uses neither ports nor
    /// much of the ruler's time.
    pub fn wait_for_requests(&self, at_least: u64) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        let mut line = BufReader::new(TcpStream::connect(self.address).expect("the ruler listens"));
        while Self::look(&mut line) < at_least {
            assert!(std::time::Instant::now() < deadline, "fewer than {at_least} requests came within 20 s");
        }
    }

    /// `requests` of the counters, over a connection that stays open.
    fn look(line: &mut BufReader<TcpStream>) -> u64 {
        line.get_mut()
            .write_all(b"GET /_test-server/counters HTTP/1.1\r\nHost: ruler\r\n\r\n")
            .expect("the ruler reads");
        let mut length = 0;
        loop {
            let mut text = String::new();
            line.read_line(&mut text).expect("the ruler answers");
            match text.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("a length is a number");
                }
                None if text.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        line.read_exact(&mut body).expect("the ruler answers in full");
        let counters: serde_json::Value = serde_json::from_slice(&body).expect("the ruler speaks JSON");
        counters["requests"].as_u64().expect("a count")
    }
}

impl Drop for Ruler {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // Its output closes when it ends, so this waits for its end.
        let lines = self.lines.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut said = Ok(String::new());
        while said.is_ok() {
            said = lines.recv_timeout(PATIENCE);
        }
        let hangs = said == Err(RecvTimeoutError::Timeout);
        if hangs {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        // A second panic would end the process and hide the first.
        assert!(!hangs || std::thread::panicking(), "the ruler did not end when its stdin was closed");
    }
}
