//! Checks of experiment files and pasted texts before they run: which files are allowed, and what `plimsoll check`
//! reports.

use super::order::Check;
use super::{Jobs, SAID_BYTES_MAX};
use crate::answer::{Answer, ApiError, aside};
use crate::{annotations, auth};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Maximum duration of a check, which also reads data files.
const CHECK_PATIENCE: Duration = Duration::from_secs(30);
/// Maximum size of an experiment file, which also limits request bodies.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Jobs {
    /// Returns the output of `plimsoll check`.
    pub async fn check(&self, asked: Check) -> Answer<Value> {
        let (ok, diagnostics) = match (asked.file, asked.text) {
            (Some(file), None) => {
                let file = experiment(&file).await?;
                self.checked(&file, &self.confined(&file)).await?
            }
            (None, Some(text)) => {
                let file = self.written(text).await?;
                let checked = self.checked(&file, &self.confined(&file)).await;
                remove(&file);
                let (ok, said) = checked?;
                // The user does not know the temporary file.
                (ok, said.replace(&file.display().to_string(), "the text"))
            }
            _ => return Err(ApiError::request("missing experiment", "send `file` or `text`")),
        };
        Ok(json!({ "is_valid": ok, "diagnostics": diagnostics }))
    }

    /// Runs `plimsoll check` and returns whether the file is valid, and the output.
    pub(super) async fn checked(&self, file: &Path, confined: &[String]) -> Answer<(bool, String)> {
        let mut command = Command::new(&self.tool.program);
        command
            .arg("check")
            .arg(file)
            .args(confined)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(CHECK_PATIENCE, command.output()).await;
        let output = match output {
            Ok(Ok(output)) => output,
            Ok(Err(e)) => return Err(ApiError::machine(format!("cannot start the check: {e}"))),
            Err(_) => return Err(ApiError::machine("the check took too long and was stopped")),
        };
        let mut said = output.stdout;
        said.extend_from_slice(&output.stderr);
        said.truncate(SAID_BYTES_MAX);
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// Saves the text to a temporary file.
    pub(super) async fn written(&self, text: String) -> Answer<PathBuf> {
        let random = (self.tool.random)().map_err(ApiError::machine)?;
        let (folder, name) = (self.scratch.clone(), auth::hex(&random[..8]));
        let file = folder.join(format!("{name}.yaml"));
        let path = file.clone();
        aside(move || annotations::own_folder(&folder).and_then(|()| annotations::new_file(&path, &text)))
            .await?
            .map_err(|e| ApiError::machine(format!("cannot save the text to `{}`: {e}", file.display())))?;
        Ok(file)
    }
}

/// Resolves a path relative to the console's working directory; a path that begins with a slash is never a flag.
/// Rejects devices and pipes, which may be endless or block, and other kinds of files by their extension.
pub async fn experiment(path: &str) -> Answer<PathBuf> {
    let wrong = |why: &dyn std::fmt::Display| {
        ApiError::request(format!("invalid path `{path}`: {why}"), "enter a path")
    };
    if path.trim().is_empty() {
        return Err(wrong(&"empty"));
    }
    let path = std::path::absolute(path.trim()).map_err(|e| wrong(&e))?;
    let fix = "use an experiment file (`.yaml`, `.yml`, or `.json`)";
    let is_named =
        path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|e| ending == *e));
    if !is_named {
        return Err(ApiError::request(
            format!("`{}` does not have the extension of an experiment file", path.display()),
            fix,
        ));
    }
    let (shown, looked) = (path.clone(), aside(move || path.metadata().map(|meta| (meta, path))).await?);
    let shown = shown.display();
    match looked {
        Err(e) => Err(ApiError::request(format!("cannot read `{shown}`: {e}"), fix)),
        Ok((meta, _)) if !meta.is_file() => Err(ApiError::request(format!("`{shown}` is not a file"), fix)),
        Ok((meta, _)) if meta.len() > FILE_BYTES_MAX => {
            Err(ApiError::request(format!("`{shown}` is larger than {FILE_BYTES_MAX} bytes"), fix))
        }
        Ok((_, path)) => Ok(path),
    }
}

/// Removes a temporary file; a leftover is small and harmless.
pub fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
}

/// Removes what killed consoles have left. Each has a folder named after its process id; folders of live processes
/// stay.
pub fn clear(scratch: &Path) {
    for folder in std::fs::read_dir(scratch).into_iter().flatten().flatten() {
        let pid: Option<u32> = folder.file_name().to_str().and_then(|name| name.parse().ok());
        // This process's id may have belonged to another console before.
        let is_dead =
            |pid: u32| pid == std::process::id() || !Path::new("/proc").join(pid.to_string()).exists();
        let is_folder = folder.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !pid.is_some_and(is_dead) {
            continue;
        }
        for left in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if left.path().extension().is_some_and(|ending| ending == "yaml") {
                remove(&left.path());
            }
        }
        // Other files in the folder stay, and so does the folder.
        let _ = std::fs::remove_dir(folder.path());
    }
}
