//! Children that may hang or outlive their parent. Both output streams go to a file that can be read in the meantime.
//! The child leads its own process group, which is ended with it, at its deadline, and after an interrupt.

use crate::{Outcome, interrupt, shell};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Time between INT and KILL: a package manager needs it to release its locks.
const GRACE: Duration = Duration::from_secs(3);

/// How a child ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Itself(ExitStatus),
    TooLate(Duration),
    Interrupted,
}

impl End {
    pub fn is_well(&self) -> bool {
        matches!(self, End::Itself(status) if status.success())
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Itself(status) => write!(f, "ended with {status}"),
            End::TooLate(within) => write!(f, "did not end within {} s", within.as_secs()),
            End::Interrupted => write!(f, "was interrupted"),
        }
    }
}

/// Returns the folder for the output of children, below cargo's target folder, and creates it if necessary.
pub fn folder() -> Result<PathBuf, String> {
    let folder = shell::target_folder()?.join("test-output");
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create `{}`: {e}", folder.display()))?;
    Ok(folder)
}

/// Runs a child to its end, or to the deadline. Its output goes to a file: a pipe would stay open while any process has
/// it, and its contents would be lost if this process is killed.
pub fn run(command: &mut Command, said: &Path, within: Duration) -> Result<End, String> {
    let shown = shell::show(command);
    let cannot = |e: std::io::Error| format!("cannot write `{}`: {e}", said.display());
    let out = File::create(said).map_err(cannot)?;
    let err = out.try_clone().map_err(cannot)?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    std::os::unix::process::CommandExt::process_group(command, 0);
    let deadline = Instant::now() + within;
    let mut child = command.spawn().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    let group = Pid::from_raw(child.id() as i32);
    let end = loop {
        if let Some(status) = ended(&mut child)? {
            break End::Itself(status);
        }
        if interrupt::requested() {
            break End::Interrupted;
        }
        if Instant::now() > deadline {
            break End::TooLate(within);
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if !matches!(end, End::Itself(_)) {
        // An error means that it has ended in the meantime; the same applies below.
        let _ = killpg(group, Signal::SIGINT);
        let patience = Instant::now() + GRACE;
        while ended(&mut child)?.is_none() && Instant::now() < patience {
            std::thread::sleep(LOOK_EVERY);
        }
    }
    // Processes left in the group would run alongside the next child.
    let _ = killpg(group, Signal::SIGKILL);
    child.wait().map_err(|e| format!("cannot wait for `{shown}`: {e}"))?;
    Ok(end)
}

fn ended(child: &mut Child) -> Result<Option<ExitStatus>, String> {
    child.try_wait().map_err(|e| format!("cannot wait for a child: {e}"))
}

/// Runs a child whose output only matters if it fails.
pub fn quietly(command: &mut Command, said: &Path, within: Duration) -> Outcome {
    let end = run(command, said, within)?;
    if end.is_well() { Ok(()) } else { Err(format!("`{}` {end}\n{}", shell::show(command), text(said)?)) }
}

/// Returns the output of a child.
pub fn text(said: &Path) -> Result<String, String> {
    let bytes = std::fs::read(said).map_err(|e| format!("cannot read `{}`: {e}", said.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look;

    /// Runs a shell script; returns how it ended, and its output.
    fn script(name: &str, script: &str, within: Duration) -> (End, String) {
        let said = std::env::temp_dir().join(format!("xtask-bounded-{}-{name}", std::process::id()));
        let end = run(Command::new("sh").args(["-c", script]), &said, within).expect("there is a shell");
        let text = text(&said).expect("it was written");
        std::fs::remove_file(&said).expect("it exists");
        (end, text)
    }

    fn expect_empty_group(said: &str) {
        let group = said.lines().next().and_then(|line| line.parse().ok()).expect("its PID comes first");
        // Killed processes need a moment to disappear.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !look::group(group).is_empty() {
            assert!(Instant::now() < deadline, "still running: {:?}", look::group(group));
            std::thread::sleep(LOOK_EVERY);
        }
    }

    #[test]
    fn a_child_that_hangs_is_ended_with_its_group_and_its_output_is_kept() {
        let within = Duration::from_millis(300);
        let (end, said) =
            script("hangs", "echo $$; trap '' INT; sleep 60 & echo both >&2; wait; wait", within);
        assert_eq!(end, End::TooLate(within));
        assert!(said.contains("both"), "{said}");
        expect_empty_group(&said);
    }

    #[test]
    fn a_background_process_is_ended_without_waiting_for_it() {
        let begin = Instant::now();
        let (end, said) = script("leaves", "echo $$; sleep 60 & echo done", Duration::from_secs(60));
        assert!(end.is_well() && begin.elapsed() < Duration::from_secs(30), "{end}");
        assert!(said.contains("done"), "{said}");
        expect_empty_group(&said);
    }

    #[test]
    fn the_error_of_a_quiet_child_includes_its_output() {
        let said = std::env::temp_dir().join(format!("xtask-bounded-{}-quiet", std::process::id()));
        let mut command = Command::new("sh");
        let failed = quietly(command.args(["-c", "echo why; exit 7"]), &said, Duration::from_secs(60));
        std::fs::remove_file(&said).expect("it exists");
        let sentence = failed.expect_err("it fails");
        assert!(sentence.ends_with("ended with exit status: 7\nwhy\n"), "{sentence}");
    }
}
