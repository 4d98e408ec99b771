//! A run of one of the two tools with a script.

use crate::script::Script;
use crate::server::{Seen, Server};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No script takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// The file to which the function that is added to scripts writes the data of `handleSummary()`.
const DATA: &str = "data.json";
const EXPORT: &str = "export.json";

/// One of the two.
#[derive(Debug, Clone)]
pub struct Tool {
    pub program: PathBuf,
    /// The words before `run`.
    pub words: &'static [&'static str],
    /// Host and port of the gRPC server, if it runs.
    pub calls: Option<String>,
}

/// What a run left.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The exit code; -1: killed after [`LIMIT`].
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
    pub seen: Vec<Seen>,
    /// The data of `handleSummary()`, unless the script has this function itself.
    pub data: Option<Value>,
    pub export: Option<Value>,
    /// Files that the script wrote.
    pub files: BTreeMap<String, String>,
}

impl Tool {
    /// Runs a script in its own folder.
    ///
    /// # Errors
    /// Returns a sentence if the folder cannot be prepared or the program cannot be started.
    pub fn run(&self, script: &Script, folder: &Path, server: &Server) -> Result<Outcome, String> {
        prepare(script, folder)?;
        let before = files(folder);
        server.take();
        let mut outcome = self.started(script, folder, server)?;
        outcome.seen = server.take();
        let read = |name: &str| {
            let text = std::fs::read_to_string(folder.join(name)).ok()?;
            serde_json::from_str(&text).ok()
        };
        (outcome.data, outcome.export) = (read(DATA), read(EXPORT));
        for (name, text) in files(folder) {
            if !before.contains_key(&name) && name != DATA && name != EXPORT {
                outcome.files.insert(name, text);
            }
        }
        Ok(outcome)
    }

    fn started(&self, script: &Script, folder: &Path, server: &Server) -> Result<Outcome, String> {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).env_clear();
        for name in ["PATH", "HOME", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        // Otherwise, k6 asks a server for extensions, and plimsoll keeps its runs in the home folder.
        command.env("K6_AUTO_EXTENSION_RESOLUTION", "false").env("XDG_STATE_HOME", folder.join("../state"));
        command.envs(script.variables.iter().map(|(name, value)| (name, value)));
        command.args(self.words).args(["run", "--no-color", "--quiet", "--no-usage-report"]);
        command.args(["--log-format", "json", "--summary-export", EXPORT]);
        command.arg("-e").arg(format!("BASE=http://{}", server.address));
        command.arg("-e").arg(format!("HOST={}", server.address));
        if let Some(calls) = &self.calls {
            command.arg("-e").arg(format!("GRPC={calls}"));
        }
        if !script.flags.iter().any(|flag| flag.starts_with("--user-agent")) && !has_own_agent(script) {
            command.args(["--user-agent", "comparison/1.0"]);
        }
        let file = script.path.file_name().unwrap_or_default();
        command.args(&script.flags).arg(file);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|e| format!("cannot start `{}`: {e}", self.program.display()))?;
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let exit = wait(&mut child);
        let text = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
        Ok(Outcome { exit, stdout: text(stdout), stderr: text(stderr), ..Outcome::default() })
    }
}

/// Whether the script itself says what its `User-Agent` is.
fn has_own_agent(script: &Script) -> bool {
    std::fs::read_to_string(&script.path).is_ok_and(|text| text.contains("userAgent"))
}

/// Copies the folder of a script, and adds a function that writes the data of the end of the test.
fn prepare(script: &Script, folder: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot prepare `{}`: {e}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed)?;
    }
    let from = script.path.parent().unwrap_or(Path::new("."));
    copy(from, folder).map_err(failed)?;
    let file = folder.join(script.path.file_name().unwrap_or_default());
    let mut text = std::fs::read_to_string(&file).map_err(failed)?;
    let is_common = text.contains("exports.");
    if !text.contains("handleSummary") && !script.prints && !is_common {
        text += "\nexport function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }\n";
        std::fs::write(&file, text).map_err(failed)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => std::fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}

/// The files of a folder itself, as text.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let text = |path: PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    files.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(entry.path()))).collect()
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is compared.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end of a child, and kills it after [`LIMIT`].
fn wait(child: &mut Child) -> i32 {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.code().unwrap_or(-2),
            Ok(None) if started.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return -1;
            }
        }
    }
}
