//! The servers under load: the ruler, or a short program if the cause must be in the server.

use crate::support::{Output, Ruler, Scratch, Tool};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Node: one thread for everything. What a path does is in the name of the constant.
const NODE: &str = r#"
const http = require("node:http");
const kept = [];
let asked = 0;
const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
const server = http.createServer((request, response) => {
  const path = request.url;
  if (path === "/busy") { spin(4); return response.end("ok"); }
  if (path === "/leak") { kept.push(Buffer.alloc(60000, 1)); return response.end("ok"); }
  if (path === "/stuck" && ++asked > 50) return;
  if (path === "/slow") return setTimeout(() => response.end("ok"), 900);
  if (path === "/slow-body") {
    let left = 10;
    response.writeHead(200, { "Content-Length": "100" });
    const timer = setInterval(() => {
      response.write("0123456789");
      if (--left === 0) { clearInterval(timer); response.end(); }
    }, 15);
    return;
  }
  response.end("ok");
});
server.listen(0, "127.0.0.1", 511, () => console.log(server.address().port));
"#;

/// Python: closes a connection that was idle for 100 ms when the next request comes, as one that closed it a moment
/// before the request arrived.
const IDLE: &str = r#"
import socket, threading, time
s = socket.create_server(("127.0.0.1", 0), backlog=512)
print(s.getsockname()[1], flush=True)
def serve(c):
    last = time.monotonic()
    while c.recv(65536):
        if time.monotonic() - last > 0.1:
            break
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        last = time.monotonic()
    c.close()
while True:
    c, _ = s.accept()
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(c,), daemon=True).start()
"#;

/// Python: limited to 64 file descriptors.
const NARROW: &str = r#"
import resource, selectors, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
s = socket.create_server(("127.0.0.1", 0), backlog=512)
print(s.getsockname()[1], flush=True)
p = selectors.DefaultSelector()
p.register(s, 1)
while True:
    for key, _ in p.select(0.01):
        if key.fileobj is s:
            try: c, _ = s.accept()
            except OSError: continue
            p.register(c, 1)
        else:
            try: d = key.fileobj.recv(4096)
            except OSError: d = b""
            if not d:
                p.unregister(key.fileobj); key.fileobj.close(); continue
            key.fileobj.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
"#;

/// The server at the address.
#[derive(Debug, Clone, Copy)]
pub enum Server {
    /// With these flags.
    Ruler(&'static [&'static str]),
    Node,
    Idle,
    Narrow,
}

/// An event in the middle of the run.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    Nothing,
    /// `/_test-server/set?...`
    Set(&'static str),
    Signal(&'static str),
}

/// When it happens, from the start of the tool.
const AT: Duration = Duration::from_millis(1_300);

/// A server of a few lines; killed with this value.
struct Script(Child);

impl Script {
    fn start(program: &str, flag: &str, text: &str) -> (Script, u16) {
        let mut child = Command::new(program).args([flag, text]).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        (Script(child), port.trim().parse().unwrap())
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One run of the tool against such a server: `{url}` and `{pid}` in the arguments, `file` as an experiment.
pub fn run(server: Server, event: Event, file: &str, arguments: &[&str], limit: Option<&str>) -> Value {
    let (ruler, script, port, pid) = match server {
        Server::Ruler(flags) => {
            let ruler = Ruler::start(flags);
            let (port, pid) = (ruler.port(), ruler.pid());
            (Some(ruler), None, port, pid)
        }
        Server::Node => started("node", "-e", NODE),
        Server::Idle => started("python3", "-c", IDLE),
        Server::Narrow => started("python3", "-c", NARROW),
    };
    let (url, pid) = (format!("http://127.0.0.1:{port}"), pid.to_string());
    let filled = |text: &str| text.replace("{url}", &url).replace("{pid}", &pid);
    let scratch = Scratch::new();
    let mut line: Vec<String> = Vec::new();
    if !file.is_empty() {
        line.extend(["run".to_owned(), scratch.file("incident.yaml", &filled(file))]);
    }
    line.extend(arguments.iter().map(|argument| filled(argument)));
    line.push("--json".into());
    let words: Vec<&str> = line.iter().map(String::as_str).collect();
    let tool = match limit {
        None => Tool::new(&words),
        Some(limit) => {
            let mut command = Command::new("sh");
            command
                .args(["-c", &format!("{limit}; exec \"$0\" \"$@\""), crate::support::BINARY])
                .args(&words);
            Tool::of(command)
        }
    };
    let running = tool.start();
    let output: Output = match event {
        Event::Nothing => running.wait(),
        event => {
            // On a separate thread, because the tool may end first.
            let (stop, stopped) = channel::<()>();
            let happen = std::thread::spawn(move || {
                if stopped.recv_timeout(AT) == Err(RecvTimeoutError::Timeout) {
                    match (event, &ruler) {
                        (Event::Set(query), Some(ruler)) => ruler.set(query),
                        (Event::Signal(name), _) => signal(name, &pid),
                        _ => {}
                    }
                }
                (ruler, pid)
            });
            let output = running.wait();
            drop(stop);
            let (ruler, pid) = happen.join().unwrap();
            if matches!(event, Event::Signal("STOP")) {
                signal("CONT", &pid);
            }
            drop(ruler);
            output
        }
    };
    drop(script);
    output.json()
}

fn started(program: &str, flag: &str, text: &str) -> (Option<Ruler>, Option<Script>, u16, u32) {
    let (script, port) = Script::start(program, flag, text);
    let pid = script.0.id();
    (None, Some(script), port, pid)
}

fn signal(name: &str, pid: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), pid]).status();
}
