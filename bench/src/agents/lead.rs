//! The coordinator of a load on a terminal: what it shows, and when.

use super::super::Context;
use super::super::child::Owned;
use super::super::target::process_cpu_s;
use chore::Outcome;
use nix::pty::{Winsize, openpty};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// Begins each picture of the live view but the first.
const REPAINT: &str = "A\r\u{1b}[J";
/// Wait for the end of a load after its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running coordinator.
pub struct Lead {
    child: Owned,
    pub began_unix_s: f64,
    pictures: JoinHandle<(Vec<f64>, String)>,
    out: PathBuf,
}

/// What a load came to.
pub struct Led {
    /// The report as JSON.
    pub said: Value,
    /// Age of each second of the live view when it was shown, s.
    pub ages_s: Vec<f64>,
}

pub fn unix_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

impl Lead {
    /// Starts `plimsoll` with these words.
    pub fn start(context: &Context, mut command: Command, words: &[String]) -> Result<Lead, String> {
        let folder = context.folder.join("agents");
        empty(&folder)?;
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(Some(&size), None).map_err(|e| format!("cannot open a terminal: {e}"))?;
        let out = folder.join("out.json");
        let stdout = File::create(&out).map_err(|e| format!("cannot write `{}`: {e}", out.display()))?;
        command.args(words).args(["--json", "--no-color", "--out"]).arg(folder.join("run.plim"));
        command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CI");
        command.stdout(stdout).stderr(Stdio::from(terminal.slave));
        let began_unix_s = unix_s();
        let child = Owned::start(&mut command)?;
        // The command holds a copy of the terminal, which must not outlive the process.
        drop(command);
        let mut screen = File::from(terminal.master);
        let pictures = std::thread::spawn(move || {
            let (mut times, mut text, mut bytes) = (Vec::new(), String::new(), [0; 65_536]);
            // A terminal whose last process has ended reports an error.
            while let Ok(length @ 1..) = screen.read(&mut bytes) {
                text.push_str(&String::from_utf8_lossy(&bytes[..length]));
                let shown = text.matches(REPAINT).count();
                times.resize(shown.max(times.len()), unix_s());
            }
            (times, text)
        });
        Ok(Lead { child, began_unix_s, pictures, out })
    }

    pub fn cpu_s(&self) -> f64 {
        process_cpu_s(self.child.0.id())
    }

    pub fn memory_kib(&self) -> u64 {
        super::super::child::memory_kib(self.child.0.id(), "VmRSS:")
    }

    /// Waits for the end of a load of `secs` seconds.
    pub fn end(mut self, secs: u32) -> Result<Led, String> {
        let deadline = Instant::now() + Duration::from_secs(secs.into()) + PATIENCE;
        let status = loop {
            match self.child.0.try_wait().map_err(|e| format!("cannot wait for the coordinator: {e}"))? {
                Some(status) => break status,
                None if Instant::now() > deadline => return Err("the coordinator does not end".into()),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let (times, text) = self.pictures.join().map_err(|_| "the terminal cannot be read")?;
        let json = std::fs::read(&self.out).map_err(|e| format!("cannot read the report: {e}"))?;
        let said: Value = serde_json::from_slice(&json).map_err(|_| {
            let lines: Vec<&str> = text.lines().rev().take(3).collect();
            format!("the coordinator ended ({status}): {}", lines.join(" | "))
        })?;
        let begun = said.pointer("/generators/0/started_unix_ns").and_then(Value::as_u64);
        let begun_s = begun.ok_or("the report has no start of the load")? as f64 / 1e9;
        // The last picture is the end, which removes the view.
        let seconds = times.len().saturating_sub(1);
        let ages_s =
            times.iter().take(seconds).zip(1..).map(|(at_s, second)| at_s - begun_s - f64::from(second));
        Ok(Led { ages_s: ages_s.collect(), said })
    }
}

/// Removes what an earlier round has left.
fn empty(folder: &Path) -> Outcome {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("cannot remove `{}`: {e}", folder.display()));
        }
        _ => {}
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))
}
