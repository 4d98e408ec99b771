//! The tool as a child: arguments in; exit code, stdout and stderr out; killed at a deadline so that no test
//! hangs.

use super::{BINARY, Scratch};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// No test runs the tool for longer, the long ones of `cargo xtask nightly` apart.
fn deadline() -> Duration {
    let is_nightly = std::env::var_os("PLIMSOLL_NIGHTLY").is_some_and(|value| value == "1");
    Duration::from_secs(if is_nightly { 900 } else { 120 })
}

/// How to start the tool. It has its own state directory, so that nothing is left in the user's.
pub struct Tool {
    command: Command,
    /// Kept until the run is over.
    state: Scratch,
}

/// The output of the tool, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// The exit code; -N when signal N killed it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// Names of the run files it put into its state directory.
    pub state_files: Vec<String>,
}

/// A tool that is still running.
pub struct Running {
    child: Child,
    /// For commands to a steered run.
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    state: Scratch,
}

impl Tool {
    pub fn new(args: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command.args(args);
        Self::of(command)
    }

    /// Any command that ends up as the tool, such as `unshare -n sh -c ...`.
    pub fn of(mut command: Command) -> Self {
        let state = Scratch::new();
        command.env("XDG_STATE_HOME", state.folder());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
            command.env_remove(name);
        }
        Self { command, state }
    }

    /// Runs it to its end.
    pub fn run(args: &[&str]) -> Output {
        Self::new(args).start().wait()
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it in this folder.
    pub fn folder(mut self, folder: &std::path::Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub fn start(self) -> Running {
        self.start_with(Stdio::null())
    }

    /// With commands on its standard input: see [`Running::say`].
    pub fn start_steered(self) -> Running {
        self.start_with(Stdio::piped())
    }

    fn start_with(mut self, stdin: Stdio) -> Running {
        let mut child = self
            .command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test can be started");
        let stdout = drain(child.stdout.take().expect("stdout is a pipe"));
        let stderr = drain(child.stderr.take().expect("stderr is a pipe"));
        let stdin = child.stdin.take();
        Running { child, stdin, stdout, stderr, state: self.state }
    }
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to its standard input.
    pub fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it was started to be steered");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }

    /// Ends its standard input.
    pub fn hush(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal by name, such as `INT` or `KILL`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(status.expect("`kill` can be started").success(), "kill -{name}");
    }

    /// Waits for the end; kills it at the deadline and fails.
    pub fn wait(mut self) -> Output {
        // The pipes close when the process ends, so waiting for them is waiting for it.
        let texts = [&self.stdout, &self.stderr].map(|pipe| pipe.recv_timeout(deadline()).ok());
        let [Some(stdout), Some(stderr)] = texts else {
            let _ = self.child.kill();
            let _ = self.child.wait();
            panic!("the tool did not end within {} s", deadline().as_secs());
        };
        let status = self.child.wait().expect("a child can be waited for");
        super::turn::watch_output(&stdout);
        Output { code: code(status), stdout, stderr, state_files: files(&self.state) }
    }
}

impl Output {
    /// stdout as one JSON document.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(e) => panic!("stdout is not JSON ({e}):\n{}\nstderr:\n{}", self.stdout, self.stderr),
        }
    }

    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(0))
}

fn files(state: &Scratch) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(state.folder().join("plimsoll/runs")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

/// Reads a pipe to its end on a thread, so that a full pipe cannot stop the tool.
fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

impl Running {
    /// Like [`Running::wait`], with another deadline; meanwhile calls `look` with the process ID every `every`.
    pub fn watch(mut self, every: Duration, deadline: Duration, mut look: impl FnMut(u32)) -> Output {
        let begin = std::time::Instant::now();
        let stdout = loop {
            match self.stdout.recv_timeout(every) {
                Ok(stdout) => break stdout,
                Err(RecvTimeoutError::Timeout) if begin.elapsed() < deadline => look(self.child.id()),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    panic!("the tool did not end within {} s", deadline.as_secs());
                }
            }
        };
        let status = self.child.wait().expect("a child can be waited for");
        super::turn::watch_output(&stdout);
        let stderr = self.stderr.recv().expect("its stderr is closed");
        Output { code: code(status), stdout, stderr, state_files: files(&self.state) }
    }
}
