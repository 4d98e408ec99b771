//! The agents that are connected to the NATS server of the console, as the tool itself lists and checks them.

use crate::Tool;
use crate::answer::{Answer, ApiError};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;
use tokio::sync::Mutex;

/// Age of a list after which the agents are asked again, ns. A check takes about a second on each of them.
const FRESH_NS: u64 = 5_000_000_000;

/// The list of agents, shared by all viewers.
pub struct Agents {
    program: PathBuf,
    access: Vec<String>,
    /// File with the key of the orders of loads.
    signing_key: Option<String>,
    now_unix_ns: fn() -> u64,
    /// When the agents were asked, and their answers.
    last: Mutex<Option<(u64, Value)>>,
}

impl Agents {
    /// `access` are the flags with which the tool reaches the server; none if the console has no server.
    pub fn new(tool: &Tool, access: Vec<String>, signing_key: Option<String>) -> Self {
        let (program, now_unix_ns) = (tool.program.clone(), tool.now_unix_ns);
        Agents { program, access, signing_key, now_unix_ns, last: Mutex::new(None) }
    }

    pub fn has_server(&self) -> bool {
        !self.access.is_empty()
    }

    /// Returns the flags for a load from agents.
    ///
    /// # Errors
    /// Returns an error if these agents need a server, and the console has none.
    pub fn words(&self, selection: &str) -> Answer<Vec<String>> {
        let mut words = vec![format!("--agents={selection}")];
        // These agents have their own server.
        if !selection.starts_with("local:") {
            if !self.has_server() {
                return Err(no_server());
            }
            words.extend(self.access.iter().cloned());
            words.extend(self.signing_key.iter().map(|file| format!("--signing-key={file}")));
        }
        Ok(words)
    }

    /// Returns the agents and what they say of their machines.
    ///
    /// # Errors
    /// Returns an error if there is no server, or if it cannot be reached.
    pub async fn list(&self) -> Answer<Value> {
        if !self.has_server() {
            return Err(no_server());
        }
        // One question at a time, for all viewers.
        let mut last = self.last.lock().await;
        if let Some((_, list)) = last.as_ref().filter(|(at_ns, _)| self.age_ns(*at_ns) < FRESH_NS) {
            return Ok(list.clone());
        }
        let mut command = Command::new(&self.program);
        command.args(["agents", "doctor", "--json", "--no-color"]).args(&self.access);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output =
            command.output().await.map_err(|e| ApiError::machine(format!("cannot ask for agents: {e}")))?;
        // A machine with a problem makes the exit code another one.
        let list: Value = match serde_json::from_slice(&output.stdout) {
            Ok(list) => list,
            Err(_) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let line = |name: &str| said.lines().find_map(|line| line.trim().strip_prefix(name));
                let sentence = line("error: ").unwrap_or("the agents could not be listed");
                return Err(ApiError::conflict(sentence, line("help: ").unwrap_or_default()));
            }
        };
        *last = Some(((self.now_unix_ns)(), list.clone()));
        Ok(list)
    }

    fn age_ns(&self, at_ns: u64) -> u64 {
        (self.now_unix_ns)().saturating_sub(at_ns)
    }
}

fn no_server() -> ApiError {
    ApiError::conflict(
        "the console has no NATS server, through which it could reach agents",
        "start it with `plimsoll serve --nats URL`, or use `local:2`",
    )
}
