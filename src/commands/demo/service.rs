//! The demo's service: this program once more, as a child that serves on a free port and ends with us.

use crate::exit::Failure;
use plimsoll_control::fetch;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Requests in service at once, and the time of each: together the capacity.
pub const WORKERS: u32 = 4;
pub const SERVICE_MS: u32 = 2;
/// What the service can do when it does not pause.
pub const CAPACITY_PER_S: u32 = WORKERS * 1_000 / SERVICE_MS;
/// Nothing is answered for so long, once in every period.
pub const PAUSE_MS: u32 = 400;
pub const PERIOD_S: u32 = 5;

/// A running service; ends when dropped.
pub struct Service {
    pub address: SocketAddr,
    child: Child,
    /// The child ends when this closes, even if we are killed.
    stdin: Option<ChildStdin>,
}

impl Service {
    pub fn start() -> Result<Self, Failure> {
        let failed = |why: String| Failure::machine(format!("the demo's service did not start: {why}"), None);
        let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
        let mut child = Command::new(program)
            .args(["test-server", "--listen", "127.0.0.1:0", "--until-stdin-closes", "--seconds", "120"])
            .args([
                "--workers",
                &WORKERS.to_string(),
                "--service",
                &format!("{SERVICE_MS}ms"),
                "--queue",
                "5000",
            ])
            // A Ctrl-C in the terminal is meant for us: the service must outlive it until the report is made.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| failed(e.to_string()))?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|e| failed(e.to_string()))?;
        }
        let address = line.trim().strip_prefix("listening on ").and_then(|text| text.parse().ok());
        let address = address.ok_or_else(|| failed(format!("it said `{}`", line.trim())))?;
        Ok(Self { address, child, stdin })
    }

    /// Begins the pauses anew, the first in a second: every part of the demo sees the same.
    pub fn pause_soon(&self) -> Result<(), Failure> {
        let command = format!("/_test-server/set?pause={PAUSE_MS}ms/{PERIOD_S}s&pause_at=1s");
        match fetch::from_address(self.address, None, "demo", &command, 4_096, Duration::from_secs(5)) {
            Ok((200, _)) => Ok(()),
            Ok((status, _)) => Err(Failure::machine(format!("the demo's service answered {status}"), None)),
            Err(why) => Err(Failure::machine(format!("the demo's service does not answer: {why}"), None)),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends by itself now; there is nobody to tell if it was gone before.
        let _ = self.child.wait();
    }
}
