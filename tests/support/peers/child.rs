//! A server as a child: it says where it listens, or why it does not, within a deadline.

use crate::support::Scratch;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Long enough for a loaded machine with a cold disk.
const DEADLINE: Duration = Duration::from_secs(30);

/// A running server that prints `listening on ADDRESS:PORT` and ends when its stdin does.
pub struct Child {
    child: std::process::Child,
    stdin: Option<ChildStdin>,
    address: SocketAddr,
    /// The folder with its stderr, in case it fails.
    _scratch: Scratch,
}

impl Child {
    /// `program` and `package` (Debian's) are for the sentence in case it is missing.
    pub fn start(mut command: Command, program: &str, package: &str) -> Self {
        let scratch = Scratch::new();
        let log = File::create(scratch.folder().join("stderr")).expect("the folder of a test is writable");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap_or_else(|error| missing(program, package, &error));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        // Reads from a pipe have no timeout, so a separate thread reads, and may outlive this call.
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = send.send(line);
        });
        let line = receive.recv_timeout(DEADLINE).unwrap_or_default();
        let said = line.trim().strip_prefix("listening on ").and_then(|address| address.parse().ok());
        let Some(address) = said else {
            let _ = child.kill();
            let _ = child.wait();
            panic!(
                "{program} said `{}` and not where it listens:\n{}",
                line.trim(),
                text(&scratch, "stderr")
            );
        };
        TcpStream::connect_timeout(&address, DEADLINE).expect("it listens where it says");
        Self { child, stdin, address, _scratch: scratch }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// Runs a program that prepares something to its end; fails with all that it said.
pub fn run(mut command: Command, program: &str, package: &str) {
    let output =
        command.stdin(Stdio::null()).output().unwrap_or_else(|error| missing(program, package, &error));
    assert!(
        output.status.success(),
        "{command:?} failed: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Fails with a sentence that helps.
pub fn missing(program: &str, package: &str, error: &std::io::Error) -> ! {
    match error.kind() {
        ErrorKind::NotFound => panic!("`{program}` is missing: `cargo xtask needs` installs it ({package})"),
        _ => panic!("`{program}` cannot be started: {error}"),
    }
}

/// A file of the test's folder, as far as it is there.
pub fn text(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.folder().join(name)).unwrap_or_default()
}
