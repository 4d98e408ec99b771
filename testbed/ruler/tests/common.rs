//! A ruler as a child process, and a client so plain that it can be checked by eye.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part; a test may panic")]

use std::cell::RefCell;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// No test waits longer than this for anything.
const DEADLINE: Duration = Duration::from_secs(10);

/// A running ruler; it ends with the test, because its stdin closes.
pub struct Ruler {
    child: Child,
    stdin: Option<ChildStdin>,
    pub address: SocketAddr,
    lines: RefCell<BufReader<ChildStdout>>,
}

impl Ruler {
    pub fn start(flags: &[&str]) -> Ruler {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ruler"))
            .args(["--until-stdin-closes", "--seconds", "60"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
        Ruler { child, stdin, address, lines: RefCell::new(lines) }
    }

    /// What the ruler prints after the line with its address.
    pub fn second_line(&self) -> String {
        let mut line = String::new();
        self.lines.borrow_mut().read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// The ID of the process, to observe it from outside.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.address).unwrap()
    }

    /// Sends one command on a new connection and returns the body of the response.
    pub fn command(&self, command: &str) -> String {
        self.connect().command(command)
    }

    pub fn count(&self, counter: &str) -> u64 {
        number(&self.command("counters"), counter)
    }

    /// Polls until the counter has this value: the last event may not have reached the ruler yet.
    pub fn wait_for(&self, counter: &str, value: u64) {
        let begin = std::time::Instant::now();
        let mut control = self.connect();
        loop {
            let counters = control.command("counters");
            if number(&counters, counter) == value {
                return;
            }
            assert!(begin.elapsed() < DEADLINE, "waited for {counter} = {value}: {counters}");
        }
    }

    /// Closes stdin and waits for the end; returns true after a normal one.
    pub fn ends_with_stdin(mut self) -> bool {
        self.stdin = None;
        self.child.wait().unwrap().success()
    }
}

impl Drop for Ruler {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}

/// How a stream ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    Fin,
    Reset,
    /// It did not end within the time allowed.
    Not,
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

pub struct Client {
    pub stream: TcpStream,
    held: Vec<u8>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> std::io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, held: Vec::new() })
    }

    pub fn send(&mut self, text: &str) -> &mut Client {
        self.stream.write_all(text.as_bytes()).unwrap();
        self
    }

    pub fn ask(&mut self, target: &str) -> &mut Client {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: ruler\r\n\r\n"))
    }

    pub fn get(&mut self, target: &str) -> Answer {
        self.ask(target).answer()
    }

    pub fn command(&mut self, command: &str) -> String {
        let answer = self.get(&format!("/_test-server/{command}"));
        let body = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 200, "{command}: {body}");
        body
    }

    /// Reads one head, up to and including its empty line.
    pub fn head(&mut self) -> String {
        loop {
            if let Some(at) = self.held.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = self.held.split_off(at + 4);
                return String::from_utf8(std::mem::replace(&mut self.held, rest)).unwrap();
            }
            self.more();
        }
    }

    /// Reads one complete response, and removes the framing of its body.
    pub fn answer(&mut self) -> Answer {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        if let Some(length) = answer.header("Content-Length") {
            answer.body = self.take(length.parse().unwrap());
        } else if answer.header("Transfer-Encoding") == Some("chunked") {
            loop {
                let size = usize::from_str_radix(&self.line(), 16).unwrap();
                answer.body.extend(self.take(size));
                if size == 0 {
                    break;
                }
                assert_eq!(self.line(), "");
            }
            loop {
                let line = self.line();
                if line.is_empty() {
                    break;
                }
                answer.head.push_str(&format!("{line}\r\n"));
            }
        } else if !matches!(status, 204 | 304) {
            answer.body = self.rest().0;
        }
        answer
    }

    pub fn line(&mut self) -> String {
        loop {
            if let Some(at) = self.held.windows(2).position(|two| two == b"\r\n") {
                let line = self.take(at + 2);
                return String::from_utf8(line[..at].to_vec()).unwrap();
            }
            self.more();
        }
    }

    pub fn take(&mut self, length: usize) -> Vec<u8> {
        while self.held.len() < length {
            self.more();
        }
        let rest = self.held.split_off(length);
        std::mem::replace(&mut self.held, rest)
    }

    fn more(&mut self) {
        let mut piece = [0; 65536];
        let length = loop {
            match self.stream.read(&mut piece) {
                // A read with a timeout is not restarted by the kernel.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.unwrap(),
            }
        };
        assert!(length > 0, "the stream ended after {:?}", String::from_utf8_lossy(&self.held));
        self.held.extend_from_slice(&piece[..length]);
    }

    /// Reads to the end of the stream; returns the bytes and how it ended.
    pub fn rest(&mut self) -> (Vec<u8>, Ended) {
        self.rest_within(DEADLINE)
    }

    /// The same, but the stream may also stay silent for `span`.
    pub fn rest_within(&mut self, span: Duration) -> (Vec<u8>, Ended) {
        self.stream.set_read_timeout(Some(span)).unwrap();
        let mut bytes = std::mem::take(&mut self.held);
        let mut piece = vec![0; 65536];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return (bytes, Ended::Fin),
                Ok(length) => bytes.extend_from_slice(&piece[..length]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return (bytes, Ended::Not);
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return (bytes, Ended::Reset),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Returns the number after `"name":` in a JSON text; 0 if the name does not occur.
pub fn number(json: &str, name: &str) -> u64 {
    let label = format!("\"{name}\":");
    let Some(at) = json.find(&label) else { return 0 };
    let text = &json[at + label.len()..];
    let end = text.find([',', '}']).unwrap();
    text[..end].parse::<f64>().unwrap() as u64
}
