//! The test server in the binary, as a target whose own counts are the truth.

use super::target::ask;
use super::{Context, child};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

/// A running test server; it ends when its stdin closes.
pub struct Ruler {
    child: Child,
    stdin: Option<ChildStdin>,
    pub port: u16,
}

impl Ruler {
    pub fn start(program: &Path, context: &Context) -> Result<Ruler, String> {
        let mut command = child::pinned(context, 1, program);
        command.args(["test-server", "--listen", "127.0.0.1:0", "--until-stdin-closes", "--seconds", "3600"]);
        command.args(["--backlog", "16384"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cannot start the ruler: {e}"))?;
        let stdout = child.stdout.take().ok_or("the ruler has no output")?;
        let mut ruler = Ruler { stdin: child.stdin.take(), child, port: 0 };
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(|e| format!("cannot read from the ruler: {e}"))?;
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        ruler.port =
            port.ok_or_else(|| format!("the ruler printed `{}` instead of its address", line.trim()))?;
        Ok(ruler)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn counter(&self, name: &str) -> Result<u64, String> {
        let answer = ask(self.port, "/_test-server/counters")?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let value: Value =
            serde_json::from_str(body).map_err(|e| format!("the ruler's counters are not JSON: {e}"))?;
        value[name].as_u64().ok_or_else(|| format!("the ruler has no counter `{name}`"))
    }
}

impl Drop for Ruler {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The server may already be gone; the wait only reaps it.
        let _ = self.child.wait();
    }
}
