//! Runs other programs: the only place where a chore starts a child and describes its failure.

use crate::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the root of the checkout. Cargo sets the variable for `cargo xtask`; the build also stores it, so that the
/// binary works if it is started by hand.
pub fn root() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_string());
    let here = Path::new(&here);
    // The parent if no lock file exists: a checkout that a test has created.
    let root = here.ancestors().find(|folder| folder.join("Cargo.lock").is_file()).or(here.parent());
    root.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Returns the cargo that started this process, so that a toolchain override applies to everything below it.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command on this terminal; its own output explains a failure.
pub fn run(command: &mut Command) -> Outcome {
    let shown = show(command);
    let status = command.status().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed: {status}")) }
}

/// Runs a command and returns its standard output; standard error goes to the terminal.
pub fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    let out = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    if !out.status.success() {
        return Err(format!("`{shown}` failed: {}", out.status));
    }
    String::from_utf8(out.stdout).map_err(|_| format!("`{shown}` printed bytes that are not UTF-8"))
}

/// Returns the command as a person would type it. Arguments with spaces are quoted; this text is never executed.
pub fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut line = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        let plain = !argument.is_empty() && !argument.contains([' ', '"', '\'', '$', '|', '&']);
        line.push(' ');
        if plain { line.push_str(&argument) } else { line.push_str(&format!("'{argument}'")) }
    }
    line
}

/// Finds a program on PATH and in the system folders that are not on an ordinary user's PATH (such as that of nginx).
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns `cargo metadata` of the workspace, as JSON.
pub fn metadata(arguments: &[&str]) -> Result<serde_json::Value, String> {
    let text = output(cargo().args(["metadata", "--format-version", "1"]).args(arguments))?;
    serde_json::from_str(&text).map_err(|e| format!("cannot read `cargo metadata`: {e}"))
}

/// Returns cargo's target folder (`target/`, unless the environment sets another one).
pub fn target_folder() -> Result<PathBuf, String> {
    let metadata = metadata(&["--no-deps"])?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "`cargo metadata` has no target folder".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_in_the_sentence() {
        let failed = run(Command::new("false").arg("two words"));
        assert_eq!(failed, Err("`false 'two words'` failed: exit status: 1".to_string()));
    }

    #[test]
    fn a_program_outside_path_is_still_found_in_the_system_folders() {
        assert!(find_program("sh").is_some());
        assert!(find_program("no-such-program-anywhere").is_none());
    }
}
