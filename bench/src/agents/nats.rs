//! The NATS server of a bench, and agents that wait for loads.

use super::super::Context;
use super::super::child::{Owned, pinned};
use super::Setting;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Wait for agents to connect.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; it ends with this value.
pub struct Nats {
    child: Owned,
    pub url: String,
}

impl Nats {
    /// Starts it, on core 1 if `is_pinned`.
    pub fn start(context: &Context, setting: &Setting<'_>, is_pinned: bool) -> Result<Nats, String> {
        let mut command = match is_pinned {
            true => pinned(context, 1, setting.server),
            false => Command::new(setting.server),
        };
        command.args(["-a", "127.0.0.1", "-p", "-1"]).stderr(Stdio::piped());
        let mut child = Owned::start(&mut command)?;
        let lines = BufReader::new(child.0.stderr.take().ok_or("the server has no stderr")?).lines();
        let mut lines = lines.map_while(Result::ok);
        let said = lines.find(|line| line.contains("Listening for client"));
        let port = said.as_ref().and_then(|line| line.rsplit(':').next()).map(str::trim);
        let url = format!("nats://127.0.0.1:{}", port.ok_or("the server does not say where it listens")?);
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Nats { child, url })
    }

    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// Starts agents named `a1` and so on, and waits until all are connected. With a core, they stay on it.
    pub fn agents(
        &self,
        context: &Context,
        own: &Path,
        count: u32,
        core: Option<usize>,
    ) -> Result<Vec<Owned>, String> {
        let mut agents = Vec::new();
        for number in 1..=count {
            let mut command = match core {
                Some(core) => pinned(context, core, own),
                None => Command::new(own),
            };
            command.args(["agent", "--quiet", "--nats", &self.url, "--name", &format!("a{number}")]);
            agents.push(Owned::start(&mut command)?);
        }
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let mut command = Command::new(own);
            command.args(["agents", "--json", "--nats", &self.url]);
            let out = command.output().map_err(|e| format!("cannot list the agents: {e}"))?;
            let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
            if found["agents"].as_array().map_or(0, Vec::len) == count as usize {
                return Ok(agents);
            }
        }
        Err(format!("{count} agents did not connect within {} s", PATIENCE.as_secs()))
    }
}
