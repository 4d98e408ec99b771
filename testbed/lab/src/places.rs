//! Paths of the lab. The state is always below `target/` of the checkout, regardless of cargo's target folder:
//! experiment files name logs in it.

use super::file::System;
use super::fill::Fill;
use super::link;
use super::state::State;
use chore::shell;
use std::path::PathBuf;

pub fn lab() -> PathBuf {
    shell::root().join("target/lab")
}

pub fn state(name: &str) -> PathBuf {
    lab().join(name)
}

pub fn ca() -> PathBuf {
    lab().join("ca")
}

/// Stamps of build steps, outside of the state folders: a system that was stopped stays built.
pub fn prepared() -> PathBuf {
    lab().join(".prepared")
}

pub fn testbed(name: &str) -> PathBuf {
    shell::root().join("testbed").join(name)
}

pub fn file(name: &str) -> PathBuf {
    testbed(name).join("lab.toml")
}

pub fn experiment(name: &str) -> PathBuf {
    shell::root().join("experiments").join(name)
}

/// Returns all systems, sorted.
pub fn names() -> Result<Vec<String>, String> {
    let folder = shell::root().join("testbed");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("cannot list `testbed`: {e}"))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| file(name).is_file());
    names.sort();
    Ok(names)
}

/// Returns all systems that were started, including those whose folder was deleted.
pub fn started() -> Result<Vec<String>, String> {
    let Ok(entries) = std::fs::read_dir(lab()) else { return Ok(Vec::new()) };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| state(name).join("lab.json").is_file());
    names.sort();
    Ok(names)
}

/// Returns the system with all strings filled in, and the values for that, with links and password if it is running.
/// The base is the given one, that of the running system, or that of its file.
pub fn system(name: &str, base: Option<u16>) -> Result<(System, Fill), String> {
    let known = names()?;
    if !known.iter().any(|n| n == name) {
        return Err(format!("unknown system `{name}`\nhelp: choose one of {}", known.join(", ")));
    }
    let state = State::read(&state(name))?.filter(State::this_boot).unwrap_or_default();
    let password = std::fs::read_to_string(self::state(name).join("password")).unwrap_or_default();
    // The file itself contains the names of its links and its base, which are needed to fill it in.
    let text = std::fs::read_to_string(file(name)).map_err(|e| format!("cannot read the file: {e}"))?;
    let head: Head = toml::from_str(&text).unwrap_or_default();
    let linked = |name: &str| link::ends(state.links.iter().find(|l| l.name == name));
    let links = head.link.iter().map(|l| (l.name.clone(), linked(&l.name))).collect();
    let base = base.unwrap_or(if state.base > 0 { state.base } else { head.base });
    let fill = Fill { base, here: testbed(name), state: self::state(name), ca: ca(), password, links };
    let mut system = System::read(&file(name), &fill)?;
    system.base = base;
    Ok((system, fill))
}

/// The keys that are needed to fill in the file. `System::read` reports the errors of an invalid file.
#[derive(Default, serde::Deserialize)]
struct Head {
    #[serde(default)]
    base: u16,
    #[serde(default)]
    link: Vec<Named>,
}

#[derive(serde::Deserialize)]
struct Named {
    name: String,
}
