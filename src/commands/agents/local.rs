//! `--agents local:N`: a NATS server and agents on this machine, for one load.

use crate::exit::Failure;
use plimsoll_cluster::server_setup::COORDINATOR_KEY;
use plimsoll_cluster::signature::SigningKey;
use plimsoll_engine::clock::now_ns;
use plimsoll_engine::signals::{end_with_parent, interrupt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Wait for the server to listen, ns.
const READY_NS: u64 = 5_000_000_000;
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// How to get a server, if there is none.
const INSTALL: &str =
    "install it with `apt install nats-server`, or `go install github.com/nats-io/nats-server/v2@latest`";

/// A server and agents that end with this value.
pub struct LocalAgents {
    folder: PathBuf,
    /// The agents first, the server last.
    processes: Vec<Child>,
    pub url: String,
    /// The only key whose orders they accept. Others on this machine can connect to the server, too.
    pub signing: SigningKey,
}

impl LocalAgents {
    /// Starts a server and `count` agents named `local-1` and so on.
    ///
    /// # Errors
    /// Returns an error if there is no server on the path, or if a process cannot be started.
    pub fn start(count: u32, name: &str, allow: &[String]) -> Result<LocalAgents, Failure> {
        let folder = std::env::temp_dir().join(format!("plimsoll-nats-{name}"));
        std::fs::create_dir_all(&folder).map_err(|e| {
            Failure::machine(format!("cannot create directory `{}`: {e}", folder.display()), None)
        })?;
        let key = folder.join(COORDINATOR_KEY);
        let signing = SigningKey::random().map_err(Failure::of)?;
        let mut local = LocalAgents { folder, processes: Vec::new(), url: String::new(), signing };
        std::fs::write(&key, local.signing.public())
            .map_err(|e| Failure::machine(format!("cannot write `{}`: {e}", key.display()), None))?;
        local.url = local.server()?;
        for number in 1..=count {
            let mut command = Command::new(std::env::current_exe().map_err(cannot_start)?);
            command.args(["agent", "--nats", &local.url, "--name", &format!("local-{number}"), "--quiet"]);
            command.arg("--coordinator-key").arg(&key);
            command.args(allow.iter().map(|host| format!("--allow={host}")));
            command.arg(format!("--with-parent={}", std::process::id()));
            local.processes.insert(0, spawned(&mut command)?);
        }
        Ok(local)
    }

    fn server(&mut self) -> Result<String, Failure> {
        let mut command = Command::new("nats-server");
        // Port -1 lets the server choose a free one, which it then writes to a file.
        command.args(["-a", "127.0.0.1", "-p", "-1", "--ports_file_dir"]).arg(&self.folder);
        command.arg("-l").arg(self.folder.join("log"));
        end_with_parent(&mut command);
        let server = spawned(&mut command).map_err(|failure| match failure {
            Failure::Machine { sentence, .. } => Failure::machine(sentence, Some(INSTALL.into())),
            other => other,
        })?;
        let file = self.folder.join(format!("nats-server_{}.ports", server.id()));
        self.processes.push(server);
        let until_ns = now_ns() + READY_NS;
        loop {
            if let Some(url) = url_of(&file) {
                return Ok(url);
            }
            let ended = self.processes.last_mut().and_then(|server| {
                let status = server.try_wait().ok().flatten()?;
                // Its log says why, if it says anything.
                let said = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                Some(format!("nats-server ended ({status}): {}", said.lines().last().unwrap_or_default()))
            });
            if let Some(sentence) = ended {
                return Err(Failure::machine(
                    sentence,
                    Some("start one by hand, and use `--nats URL`".into()),
                ));
            }
            if now_ns() > until_ns {
                let sentence = format!("nats-server does not listen after {} s", READY_NS / 1_000_000_000);
                return Err(Failure::machine(
                    sentence,
                    Some("start one by hand, and use `--nats URL`".into()),
                ));
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for LocalAgents {
    fn drop(&mut self) {
        for process in &mut self.processes {
            interrupt(process.id());
            // A process that has ended already cannot be waited for twice.
            let _ = process.wait();
        }
        // Only files for this load.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn cannot_start(e: std::io::Error) -> Failure {
    Failure::machine(format!("cannot start an agent: {e}"), None)
}

fn spawned(command: &mut Command) -> Result<Child, Failure> {
    use std::os::unix::process::CommandExt;
    let program = Path::new(command.get_program()).display().to_string();
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.spawn().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Failure::machine(format!("`{program}` is not installed"), None),
        _ => Failure::machine(format!("cannot start `{program}`: {e}"), None),
    })
}

/// Returns the address in the server's file of ports.
fn url_of(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let ports: serde_json::Value = serde_json::from_str(&text).ok()?;
    ports.get("nats")?.as_array()?.first()?.as_str().map(str::to_owned)
}
