//! A PostgreSQL cluster that is created at each start, so every measurement has the same rows. User and database are
//! both `lab`, without a password on the loopback and without a socket in the file system.

use super::super::file::{Process, System};
use super::super::fill::Fill;
use super::super::process::{Spec, last_lines, log_to};
use super::super::state::State;
use chore::interrupt;
use chore::{Outcome, needs};
use nix::sys::signal::Signal;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for the first login: the server listens before it accepts logins.
const WITHIN: Duration = Duration::from_secs(30);
/// The user that Debian's package creates; the server does not run as root.
const USER: &str = "postgres";

pub fn spec(process: &Process, fill: &Fill, state: &mut State) -> Result<Spec, String> {
    let mut spec = super::plain(process, fill, state);
    if nix::unistd::geteuid().is_root() {
        spec.user = Some(USER);
    }
    let data = make_folder(process, state)?;
    initdb(process, &data, spec.user, state)?;
    spec.folder = data.clone();
    let data = data.display().to_string();
    let port = fill.port(process.port.unwrap_or_default()).to_string();
    let server = program("postgres")?;
    spec.run = [&*server, "-D", &data, "-p", &port].map(String::from).to_vec();
    // The settings of the file follow those of the lab; PostgreSQL uses the last value of a name.
    let own = [("listen_addresses", "127.0.0.1"), ("unix_socket_directories", "")];
    let own = own.iter().map(|(name, value)| format!("{name}={value}"));
    for setting in own.chain(process.settings.iter().map(|(name, value)| format!("{name}={value}"))) {
        spec.run.extend(["-c".into(), setting]);
    }
    // TERM waits for clients to disconnect; INT ends their sessions and shuts down in order.
    spec.stop = Signal::SIGINT;
    Ok(spec)
}

/// Creates the data folder, below the state folder or, as root, in the system's temporary folder, because the server's
/// user may not have access to the checkout. The folder must not exist yet.
fn make_folder(process: &Process, state: &mut State) -> Result<PathBuf, String> {
    let root = nix::unistd::geteuid().is_root();
    let folder = if root {
        let name = state.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let unique = format!("plimsoll-lab-{name}-{}-{}", process.name, std::process::id());
        std::env::temp_dir().join(unique)
    } else {
        state.folder.join(format!("{}-data", process.name))
    };
    // Saved before it is created: a crash in between may leave an unused name, but never an unknown folder.
    state.folders.push(folder.clone());
    state.save()?;
    let cannot = |e: std::io::Error| format!("cannot create `{}`: {e}", folder.display());
    std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(cannot)?;
    if root {
        let user = nix::unistd::User::from_name(USER).ok().flatten();
        let user =
            user.ok_or_else(|| format!("the database requires the user `{USER}`, which does not exist"))?;
        chown(&folder, Some(user.uid.as_raw()), Some(user.gid.as_raw())).map_err(cannot)?;
    }
    Ok(folder)
}

fn initdb(process: &Process, data: &Path, user: Option<&str>, state: &State) -> Outcome {
    let log = state.folder.join("log").join(format!("{}-initdb.log", process.name));
    let initdb = program("initdb")?;
    let mut command = match user {
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--init-groups", "--"]);
            command.arg(initdb);
            command
        }
        None => Command::new(initdb),
    };
    // Not synced: the cluster does not outlive its system.
    command.args(["-U", "lab", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"]).arg(data);
    command.current_dir(data).stdin(Stdio::null());
    // With the mark, `lab down` finds it after a crash, although it is not in the saved state.
    command.envs(state.mark().split_once('='));
    log_to(&mut command, &log)?;
    let status = command.status().map_err(|e| format!("cannot start initdb: {e}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("process `{}`: initdb failed: {status}\n{}", process.name, last_lines(&log, 15)))
}

/// Creates the database when the server accepts logins, and runs the scripts.
pub fn settle(process: &Process, system: &System, fill: &Fill, state: &State) -> Outcome {
    let port = fill.port(process.port.unwrap_or_default()).to_string();
    let log = state.folder.join("log").join(format!("{}-psql.log", process.name));
    // -X: without the user's settings. ON_ERROR_STOP: a script with a failed statement fails.
    let psql = |database: &str, more: [&str; 2]| -> Result<bool, String> {
        let mut command = Command::new(program("psql")?);
        command.args(["-h", "127.0.0.1", "-p", &port, "-U", "lab", "-d", database, "-X", "-q"]);
        command.args(["-v", "ON_ERROR_STOP=1"]).args(more).stdin(Stdio::null()).current_dir(&system.here);
        log_to(&mut command, &log)?;
        Ok(command.status().map_err(|e| format!("cannot start psql: {e}"))?.success())
    };
    let deadline = Instant::now() + WITHIN;
    while !psql("postgres", ["-c", "create database lab"])? {
        interrupt::check()?;
        if Instant::now() > deadline {
            return Err(format!("process `{}` accepts no logins\n{}", process.name, last_lines(&log, 15)));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    for file in &process.sql {
        let path = system.here.join(file).display().to_string();
        interrupt::check()?;
        if !psql("lab", ["-f", &path])? {
            return Err(format!("process `{}`: `{file}` failed\n{}", process.name, last_lines(&log, 15)));
        }
    }
    Ok(())
}

fn program(name: &str) -> Result<String, String> {
    let path = needs::find(name).ok_or_else(|| format!("program `{name}` not found (package postgresql)"))?;
    Ok(path.display().to_string())
}
