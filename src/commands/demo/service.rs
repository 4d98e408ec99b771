//! Service of the demo: this program as a child process, which serves on a free port and ends with its parent.

use crate::exit::Failure;
use plimsoll_control::fetch;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Concurrent requests and the time of each, which together define the capacity.
pub const WORKERS: u32 = 4;
pub const SERVICE_MS: u32 = 2;
/// Capacity when the service does not stall.
pub const CAPACITY_PER_S: u32 = WORKERS * 1_000 / SERVICE_MS;
/// Duration of the stall in every period.
pub const PAUSE_MS: u32 = 400;
pub const PERIOD_S: u32 = 5;

/// A running service; it ends when dropped.
pub struct Service {
    pub address: SocketAddr,
    child: Child,
    /// The child ends when this closes, even if this process is killed.
    stdin: Option<ChildStdin>,
}

impl Service {
    pub fn start() -> Result<Self, Failure> {
        let failed = |why: String| Failure::machine(format!("cannot start the demo's service: {why}"), None);
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
            // A Ctrl-C in the terminal must not stop the service before the report is made.
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
        let address = address.ok_or_else(|| failed(format!("unexpected output `{}`", line.trim())))?;
        Ok(Self { address, child, stdin })
    }

    /// Restarts the schedule of stalls, the first in one second, so that every part of the demo sees the same.
    pub fn pause_soon(&self) -> Result<(), Failure> {
        let command = format!("/_test-server/set?pause={PAUSE_MS}ms/{PERIOD_S}s&pause_at=1s");
        match fetch::from_address(self.address, None, "demo", &command, 4_096, Duration::from_secs(5)) {
            Ok((200, _)) => Ok(()),
            Ok((status, _)) => {
                Err(Failure::machine(format!("the demo's service responded with {status}"), None))
            }
            Err(why) => Err(Failure::machine(format!("the demo's service does not respond: {why}"), None)),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The service ends by itself; if it has ended already, that does not matter.
        let _ = self.child.wait();
    }
}
