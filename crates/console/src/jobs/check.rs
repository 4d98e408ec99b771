//! Experiment files and pasted texts before they run: what may be read as one, and what the tool itself says of it.

use super::order::Check;
use super::{Jobs, SAID_BYTES_MAX};
use crate::answer::{Answer, ApiError, aside};
use crate::{annotations, auth};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A check reads data files, too, but not for longer.
const CHECK_PATIENCE: Duration = Duration::from_secs(30);
/// Larger files are none that somebody wrote: bodies of requests over the wire end there, too.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Jobs {
    /// What `plimsoll check` says.
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
                // Nobody knows the name of our own file.
                (ok, said.replace(&file.display().to_string(), "the text"))
            }
            _ => return Err(ApiError::request("there is nothing to check", "send `file` or `text`")),
        };
        Ok(json!({ "is_valid": ok, "diagnostics": diagnostics }))
    }

    /// Runs `plimsoll check`: whether all is well, and what it printed.
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
            Ok(Err(e)) => return Err(ApiError::machine(format!("the check cannot be started: {e}"))),
            Err(_) => return Err(ApiError::machine("the check took too long and was ended")),
        };
        let mut said = output.stdout;
        said.extend_from_slice(&output.stderr);
        said.truncate(SAID_BYTES_MAX);
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// The text as a file of our own.
    pub(super) async fn written(&self, text: String) -> Answer<PathBuf> {
        let random = (self.tool.random)().map_err(ApiError::machine)?;
        let (folder, name) = (self.scratch.clone(), auth::hex(&random[..8]));
        let file = folder.join(format!("{name}.yaml"));
        let path = file.clone();
        aside(move || annotations::own_folder(&folder).and_then(|()| annotations::new_file(&path, &text)))
            .await?
            .map_err(|e| {
                ApiError::machine(format!("the text cannot be kept in `{}`: {e}", file.display()))
            })?;
        Ok(file)
    }
}

/// From where the console was started; a path that begins with a slash is never a flag. Devices and pipes, which may
/// have no end or wait for one, are no experiments, and what is named otherwise is somebody's file of another kind.
pub async fn experiment(path: &str) -> Answer<PathBuf> {
    let wrong =
        |why: &dyn std::fmt::Display| ApiError::request(format!("`{path}` is no path: {why}"), "name a file");
    if path.trim().is_empty() {
        return Err(wrong(&"it is empty"));
    }
    let path = std::path::absolute(path.trim()).map_err(|e| wrong(&e))?;
    let mend = "name an experiment file (`.yaml`, `.yml` or `.json`)";
    let is_named =
        path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|e| ending == *e));
    if !is_named {
        return Err(ApiError::request(
            format!("`{}` is not named as an experiment is", path.display()),
            mend,
        ));
    }
    let (shown, looked) = (path.clone(), aside(move || path.metadata().map(|meta| (meta, path))).await?);
    let shown = shown.display();
    match looked {
        Err(e) => Err(ApiError::request(format!("`{shown}` cannot be read: {e}"), mend)),
        Ok((meta, _)) if !meta.is_file() => Err(ApiError::request(format!("`{shown}` is no file"), mend)),
        Ok((meta, _)) if meta.len() > FILE_BYTES_MAX => {
            Err(ApiError::request(format!("`{shown}` is larger than {FILE_BYTES_MAX} bytes"), mend))
        }
        Ok((_, path)) => Ok(path),
    }
}

/// A file of our own that is not needed any more. What stays behind is small and nobody's trouble.
pub fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
}

/// Removes what consoles that were killed have left behind. Each has a folder with the number of its process; of one
/// that lives nothing is touched.
pub fn clear(scratch: &Path) {
    for folder in std::fs::read_dir(scratch).into_iter().flatten().flatten() {
        let pid: Option<u32> = folder.file_name().to_str().and_then(|name| name.parse().ok());
        // The number of this one was that of another before.
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
        // Whatever else lies there is not ours, and keeps it.
        let _ = std::fs::remove_dir(folder.path());
    }
}
