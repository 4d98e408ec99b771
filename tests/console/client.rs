//! `plimsoll serve` as a child, and a browser reduced to what HTTP needs of it.

use crate::support::{BINARY, Ruler, Scratch, Tool, alone};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Deadline of every wait.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A state folder with one run in it.
pub fn with_a_run() -> (Scratch, PathBuf) {
    let state = Scratch::new();
    let runs = state.folder().join("plimsoll/runs");
    std::fs::create_dir_all(&runs).expect("the folder for temporary files is writable");
    let file = runs.join("a.plim");
    let ruler = Ruler::start(&[]);
    let _alone = alone();
    Tool::run(&[&ruler.url("/"), "-n", "20", "-q", "-o", file.to_str().expect("a plain path")])
        .expect_code(0);
    (state, file)
}

pub struct Console {
    child: Child,
    pub address: String,
    pub token: String,
    cookie: String,
    key: String,
    pub state: Scratch,
}

/// A response of the console.
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Console {
    /// Serves a new state folder on a free port, and logs in with the printed address.
    pub fn start() -> Self {
        Self::with(Scratch::new())
    }

    pub fn with(state: Scratch) -> Self {
        Self::of(state, &[])
    }

    /// Serves these folders, or its own.
    pub fn of(state: Scratch, folders: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(folders)
            .env("XDG_STATE_HOME", state.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary under test can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout is a pipe"))
            .read_line(&mut line)
            .expect("it says where");
        let rest = line.trim().strip_prefix("http://").expect("an address is printed");
        let (address, token) = rest.split_once("/?token=").expect("with a token");
        let (address, token) = (address.to_owned(), token.to_owned());
        let (cookie, key) = Default::default();
        let mut console = Self { child, address, token, cookie, key, state };
        (console.cookie, console.key) = console.enter();
        console
    }

    /// Opens the printed address, as one more browser: its cookie and its key.
    pub fn enter(&self) -> (String, String) {
        let reply = self.send("GET", &format!("/?token={}", self.token), &[], "");
        assert_eq!(reply.status, 303, "{}", reply.head);
        let cookie = reply.header("set-cookie").expect("a cookie comes with it");
        let key = reply.header("location").and_then(|to| to.strip_prefix("/#key=")).expect("a key, too");
        (cookie.split(';').next().unwrap_or_default().to_owned(), key.to_owned())
    }

    /// As it is written here, and nothing else but a `Host`, unless one is given.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = self.request(method, path, headers, body);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the console answers");
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("the answer has a head");
        let body = answer.split_off(end + 4);
        let head = String::from_utf8_lossy(&answer).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Reply { status, head, body }
    }

    /// A connection that has said nothing yet.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("the console listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream
    }

    /// Sends a request, and returns the connection without reading the response.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = self.connect();
        let mut text =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        write!(stream, "{text}\r\n{body}").expect("the console reads");
        stream
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the console immediately, like a crash. The state folder stays.
    pub fn kill(mut self) -> Scratch {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
        std::mem::take(&mut self.state)
    }

    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[("Cookie", &self.cookie)], "")
    }

    pub fn json(&self, path: &str) -> Value {
        self.get(path).json()
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    /// As a page of the console does it.
    pub fn change(&self, method: &str, path: &str, body: &Value) -> Reply {
        let origin = format!("http://{}", self.address);
        let headers = [
            ("Cookie", self.cookie()),
            ("X-Plimsoll-Key", self.key()),
            ("Origin", &origin),
            ("Content-Type", "application/json"),
        ];
        self.send(method, path, &headers, &body.to_string())
    }

    /// Tags and a note instead of those that are in the list now.
    pub fn annotate(&self, id: &str, tags: &Value, note: &str) -> Reply {
        let entry = self.entries().into_iter().find(|entry| entry["id"] == id).expect("it is listed");
        let body = json!({ "tags": tags, "note": note, "version": entry["annotations_version"] });
        self.change("PUT", &format!("/api/runs/{id}/annotations"), &body)
    }

    pub fn entries(&self) -> Vec<Value> {
        self.json("/api/runs")["entries"].as_array().expect("a list").clone()
    }

    /// Asks until it is so.
    pub fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let value = self.json(path);
            if is_so(&value) {
                return value;
            }
            assert!(Instant::now() < deadline, "{path} stayed {value}");
        }
    }

    pub fn watch(&self, id: &str) -> Watching {
        let stream = self.request("GET", &format!("/api/live/{id}"), &[("Cookie", &self.cookie)], "");
        Watching { lines: BufReader::new(stream) }
    }

    /// Ctrl-C, and the code with which it ends.
    pub fn interrupt(mut self) -> (Option<i32>, PathBuf, Scratch) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status().expect("`kill` can be started");
        assert!(sent.success());
        let code = self.child.wait().expect("a child can be waited for").code();
        let state = std::mem::take(&mut self.state);
        (code, state.folder().join("plimsoll/runs"), state)
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // It may have been waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.head, self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A live view.
pub struct Watching {
    lines: BufReader<TcpStream>,
}

impl Watching {
    /// The next event with its data; `None`: the stream has ended.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let (mut event, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("events come in time") == 0 {
                return None;
            }
            if let Some(name) = line.trim().strip_prefix("event: ") {
                name.clone_into(&mut event);
            } else if let Some(text) = line.trim_end().strip_prefix("data: ") {
                text.clone_into(&mut data);
            } else if line.trim().is_empty() && !event.is_empty() {
                return Some((event, serde_json::from_str(&data).expect("data is JSON")));
            }
        }
    }

    /// All events up to the last.
    pub fn all(mut self) -> Vec<(String, Value)> {
        let mut events = Vec::new();
        while let Some((name, data)) = self.next() {
            let is_last = name == "ended";
            events.push((name, data));
            if is_last {
                break;
            }
        }
        events
    }
}
