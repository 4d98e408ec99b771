//! NATS servers of tests, and the agents that are connected to them.

use super::{Output, Running, Tool};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A NATS server of a test, and what is connected to it.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    pub fn start() -> Server {
        Self::start_with(&[])
    }

    pub fn start_with(more: &[&str]) -> Server {
        Self::start_in(Path::new("."), more)
    }

    /// Starts it in a directory, which its configuration may refer to.
    pub fn start_in(folder: &Path, more: &[&str]) -> Server {
        let (child, port) = Self::launch(-1, folder, more);
        Server { child, port }
    }

    /// Starts the server, and waits until it says where it listens.
    fn launch(port: i32, folder: &Path, more: &[&str]) -> (Child, u16) {
        let mut child = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .args(more)
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .expect("`nats-server` is installed (`cargo xtask needs`)");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is a pipe")).lines();
        let said = lines.by_ref().map_while(Result::ok).find(|line| line.contains("Listening for client"));
        let said = said.expect("the server says where it listens");
        let port = said.rsplit(':').next().and_then(|port| port.trim().parse().ok());
        std::thread::spawn(move || lines.for_each(drop));
        (child, port.expect("a port"))
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("a child");
        self.child.wait().expect("a child");
    }

    /// Sends a signal by name. After `HUP`, the server reads its configuration again.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.expect("`kill` can be started").success(), "kill -{name}");
    }

    pub fn restart(&mut self) {
        self.child = Self::launch(i32::from(self.port), Path::new("."), &[]).0;
    }

    pub fn agent(&self, name: &str, more: &[&str]) -> Running {
        let url = self.url();
        Tool::new(&[&["agent", "--nats", &url, "--name", name], more].concat()).start()
    }

    pub fn agents(&self) -> Value {
        Tool::run(&["agents", "--nats", &self.url(), "--json"]).expect_code(0).json()["agents"].clone()
    }

    /// Waits until this many agents are connected. Each roll call takes most of a second.
    pub fn wait_for(&self, count: usize) {
        let is_there = || self.agents().as_array().map_or(0, Vec::len) == count;
        assert!((0..30).any(|_| is_there()), "{count} agents are connected");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends an agent as Ctrl-C does.
pub fn ends(agent: Running) -> Output {
    agent.signal("INT");
    agent.wait()
}
