//! Build steps of a system (`npm ci`, `go build`). A step is repeated only if the step, an input, or its product has
//! changed. The contents decide, because in a fresh checkout all dates are new.

use super::file::{Prepare, System};
use super::process::{self, last_lines};
use super::{places, state};
use chore::interrupt;
use chore::{Outcome, needs, shell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a step, enough for an empty package cache and a slow connection.
const WITHIN: Duration = Duration::from_secs(900);

/// `lab prepare NAME...`: installs and builds what `up` needs, and starts nothing.
pub fn command(names: &[String]) -> Outcome {
    for name in names {
        let _lock = state::lock(&places::state(name), name)?;
        let (system, _) = places::system(name, None)?;
        needs::ensure(&system.programs())?;
        all(&system, &places::prepared()).map_err(|sentence| format!("`{name}`: {sentence}"))?;
    }
    println!("prepared: {}", names.join(", "));
    Ok(())
}

pub fn all(system: &System, stamps: &Path) -> Outcome {
    super::make_folder(stamps)?;
    for (at, step) in system.prepare.iter().enumerate() {
        let stamp = stamps.join(format!("{}-{}", system.name, at + 1));
        once(system, step, &stamp)
            .map_err(|e| format!("preparing `{}`, step {}: {e}", system.name, at + 1))?;
    }
    Ok(())
}

fn once(system: &System, step: &Prepare, stamp: &Path) -> Outcome {
    let folder = system.here.join(&step.folder);
    // Before anything runs, so that a missing input is reported immediately.
    let wanted = digest(system, step)?;
    let made = products(step).iter().all(|file| folder.join(file).exists());
    let known = std::fs::read_to_string(stamp).unwrap_or_default();
    if made && known == wanted {
        return Ok(());
    }
    let log = stamp.with_extension("log");
    let mut command = process::command(&step.run, &folder)?;
    command.envs(&step.env).stdin(Stdio::null());
    process::log_to(&mut command, &log)?;
    // The output goes to a file. It is only shown if the build fails.
    let shown = shell::show(&command);
    println!("{}: {shown}", system.name);
    let begin = Instant::now();
    run(command, &shown, begin).map_err(|e| format!("{e}\n{}", last_lines(&log, 40)))?;
    if let Some(file) = products(step).iter().find(|file| !folder.join(file).exists()) {
        return Err(format!("`{shown}` succeeded, but `{file}` does not exist"));
    }
    println!("{}: prepared in {:.1} s", system.name, begin.elapsed().as_secs_f64());
    // The digest after the step, because a step may rewrite an input (such as an incomplete lock file).
    std::fs::write(stamp, digest(system, step)?)
        .map_err(|e| format!("cannot write `{}`: {e}", stamp.display()))
}

fn run(mut command: Command, shown: &str, begin: Instant) -> Outcome {
    let mut child = command.spawn().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    let status = process::wait(&mut child, begin + WITHIN)?;
    interrupt::check()?;
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("`{shown}` failed: {status}")),
        None => Err(format!("`{shown}` did not end within {} s", WITHIN.as_secs())),
    }
}

/// Returns the products of a step: those in `makes`, and those of two well-known programs.
fn products(step: &Prepare) -> Vec<String> {
    let mut files = step.makes.clone();
    if step.run.first().is_some_and(|p| p == "npm") && step.run.get(1).is_some_and(|a| a == "ci") {
        files.push("node_modules".into());
    }
    if step.run.first().is_some_and(|p| p == "go")
        && let Some(at) = step.run.iter().position(|a| a == "-o")
        && let Some(file) = step.run.get(at + 1)
    {
        files.push(file.clone());
    }
    files
}

/// Returns a hash of the step and the contents of its inputs. A collision would skip a build on one machine until the
/// next change, so 64 bits are enough.
fn digest(system: &System, step: &Prepare) -> Result<String, String> {
    let mut hash = DefaultHasher::new();
    (&step.run, &step.folder, &step.env).hash(&mut hash);
    for input in &step.inputs {
        let path = system.here.join(input);
        if !path.exists() {
            return Err(format!("input `{input}` does not exist"));
        }
        for file in files(&path)? {
            file.strip_prefix(&system.here).unwrap_or(&file).hash(&mut hash);
            let bytes = std::fs::read(&file).map_err(|e| format!("cannot read `{}`: {e}", file.display()))?;
            bytes.hash(&mut hash);
        }
    }
    Ok(format!("{:016x}\n", hash.finish()))
}

/// Returns a file itself, or all files below a folder, sorted and without the products of builds.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| format!("cannot list `{}`: {e}", path.display()))?;
    let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inside.sort();
    let mut found = Vec::new();
    for path in inside {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !matches!(&*name, "node_modules" | ".next" | "target") {
            found.extend(files(&path)?);
        }
    }
    Ok(found)
}
