//! A PostgreSQL cluster of its own, made anew at each start: the same rows for every measurement. User and database
//! are both `lab`, without a password on the loopback and without a socket in the file system.

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

/// It listens before it lets anybody in.
const WITHIN: Duration = Duration::from_secs(30);
/// The user that Debian's package makes: the server refuses to run as root.
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
    // The file's settings stand behind ours; of two values for a name PostgreSQL takes the last.
    let own = [("listen_addresses", "127.0.0.1"), ("unix_socket_directories", "")];
    let own = own.iter().map(|(name, value)| format!("{name}={value}"));
    for setting in own.chain(process.settings.iter().map(|(name, value)| format!("{name}={value}"))) {
        spec.run.extend(["-c".into(), setting]);
    }
    // TERM waits for clients to leave; INT ends their sessions and shuts down in order.
    spec.stop = Signal::SIGINT;
    Ok(spec)
}

/// Below the state folder; as root in the system's temporary folder, because the server's user may not be able to
/// enter the checkout. Nobody else may have made that folder.
fn make_folder(process: &Process, state: &mut State) -> Result<PathBuf, String> {
    let root = nix::unistd::geteuid().is_root();
    let folder = if root {
        let name = state.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let unique = format!("plimsoll-lab-{name}-{}-{}", process.name, std::process::id());
        std::env::temp_dir().join(unique)
    } else {
        state.folder.join(format!("{}-data", process.name))
    };
    // Written down before it is made: a crash in between leaves a name too many and never a folder too many.
    state.folders.push(folder.clone());
    state.save()?;
    let cannot = |e: std::io::Error| format!("cannot make `{}`: {e}", folder.display());
    std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(cannot)?;
    if root {
        let user = nix::unistd::User::from_name(USER).ok().flatten();
        let user = user.ok_or_else(|| format!("there is no user `{USER}` to run the database as"))?;
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
    // Not synced: the cluster does not outlive the system that it belongs to.
    command.args(["-U", "lab", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"]).arg(data);
    command.current_dir(data).stdin(Stdio::null());
    // So that it is found behind a crash, although it is not written down.
    command.envs(state.mark().split_once('='));
    log_to(&mut command, &log)?;
    let status = command.status().map_err(|e| format!("cannot start initdb: {e}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("process `{}`: initdb failed: {status}\n{}", process.name, last_lines(&log, 15)))
}

/// Makes the database once the server lets us in, and runs the scripts.
pub fn settle(process: &Process, system: &System, fill: &Fill, state: &State) -> Outcome {
    let port = fill.port(process.port.unwrap_or_default()).to_string();
    let log = state.folder.join("log").join(format!("{}-psql.log", process.name));
    // -X: nobody's own settings. ON_ERROR_STOP: a script that fails in the middle fails.
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
            return Err(format!("process `{}` lets nobody in\n{}", process.name, last_lines(&log, 15)));
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
    let path =
        needs::find(name).ok_or_else(|| format!("there is no program `{name}` (package postgresql)"))?;
    Ok(path.display().to_string())
}
