//! Starts one process of a system in its own process group, with its output in a file, and waits until it is healthy.
//! If a process dies before that, the error contains the end of its output.

use super::state::{Running, State};
use chore::interrupt;
use chore::look;
use chore::{Outcome, shell};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time from the start of a process until it is healthy: a production server on a busy two-core machine takes 10 s.
pub const WITHIN: Duration = Duration::from_secs(60);
/// Time between TERM and KILL. The load has ended, and no client waits for responses. Without KILL, a server that was
/// loaded far above its capacity would work on its queue for minutes.
const GRACE: Duration = Duration::from_secs(4);
/// Time for a child to end by itself after an interrupt from the terminal.
const OWN_END: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// How to start a process.
pub struct Spec {
    /// Unique within the system; names the log.
    pub name: String,
    pub run: Vec<String>,
    /// Working directory, and the base of a relative program path.
    pub folder: PathBuf,
    pub env: Vec<(String, String)>,
    /// Another user to run as, when started by root.
    pub user: Option<&'static str>,
    /// A network namespace to run in.
    pub namespace: Option<String>,
    /// Hard and soft limit on open files; None: those of the lab.
    pub nofile: Option<u32>,
    /// All of them must accept connections before it counts as healthy.
    pub ports: Vec<u16>,
    /// Address of the ports: the loopback, or the far end of a link.
    pub host: String,
    /// Address that must return 200 as well.
    pub health: Option<String>,
    /// Signal for an orderly end: TERM goes to the whole group, any other signal to the leader only.
    pub stop: Signal,
}

/// A child process of the lab.
pub struct Started {
    pub child: Child,
    pub log: PathBuf,
    pub begin: Instant,
}

/// Returns a command whose program was found: a name on PATH or in the system's folders, a path in its own folder.
pub fn command(run: &[String], folder: &Path) -> Result<Command, String> {
    let (program, arguments) = run.split_first().ok_or("an empty command")?;
    let path = if program.contains('/') {
        Some(folder.join(program)).filter(|path| path.is_file())
    } else {
        shell::find_program(program)
    };
    let path = path.ok_or_else(|| format!("program `{program}` not found"))?;
    let mut command = Command::new(path);
    command.args(arguments).current_dir(folder);
    // Cargo describes the package that it runs in variables; a `cargo` or a Go build below must not inherit them.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_"))
    {
        command.env_remove(name);
    }
    Ok(command)
}

/// Sends both output streams to one file, which is truncated.
pub fn log_to(command: &mut Command, log: &Path) -> Outcome {
    let cannot = |e: std::io::Error| format!("cannot write `{}`: {e}", log.display());
    let out = File::create(log).map_err(cannot)?;
    let err = out.try_clone().map_err(cannot)?;
    command.stdout(out).stderr(err);
    Ok(())
}

pub fn start(spec: &Spec, state: &mut State) -> Result<Started, String> {
    for port in &spec.ports {
        free(&spec.host, *port, spec.namespace.is_some())
            .map_err(|e| format!("process `{}`: {e}", spec.name))?;
    }
    let log = state.folder.join("log").join(format!("{}.log", spec.name));
    let mut command = command(&wrapped(spec), &spec.folder)?;
    command.envs(spec.env.iter().map(|(k, v)| (k, v)));
    command.envs(state.mark().split_once('='));
    log_to(&mut command, &log)?;
    // Its own process group: Ctrl-C at the terminal must reach the lab, not its servers, which the lab stops in order.
    command.stdin(Stdio::null()).process_group(0);
    let begin = Instant::now();
    let child = command.spawn().map_err(|e| format!("process `{}`: cannot start: {e}", spec.name))?;
    let pid = child.id() as i32;
    state.processes.push(Running {
        name: spec.name.clone(),
        pid,
        // If it has ended already, the wait below reports why.
        start: look::stat(pid).map_or(0, |stat| stat.start),
        ports: spec.ports.clone(),
        host: spec.host.clone(),
        health: spec.health.clone(),
        stop: spec.stop as i32,
    });
    state.save()?;
    Ok(Started { child, log, begin })
}

/// Each wrapper replaces itself with the program that it starts: one process, one PID.
fn wrapped(spec: &Spec) -> Vec<String> {
    let mut run: Vec<String> = Vec::new();
    let words = |line: &[&str]| line.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    if let Some(namespace) = &spec.namespace {
        run.extend(words(&["nsenter", &format!("--net=/run/netns/{namespace}"), "--"]));
    }
    if let Some(user) = spec.user {
        let group = format!("--regid={user}");
        run.extend(words(&["setpriv", &format!("--reuid={user}"), &group, "--init-groups", "--"]));
    }
    if let Some(limit) = spec.nofile {
        let line = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
        run.extend(words(&["sh", "-c", &line]));
    }
    // Find the program's path here, because a wrapper only searches PATH.
    let mut own = spec.run.clone();
    if let Some(first) = own.first_mut()
        && let Some(path) = shell::find_program(first).filter(|_| !first.contains('/'))
    {
        *first = path.display().to_string();
    }
    run.extend(own);
    run
}

/// Waits until all ports accept connections and the health address returns 200.
pub fn healthy(spec: &Spec, started: &mut Started) -> Outcome {
    // Ports first: health checks before the server listens would only fail.
    let deadline = started.begin + WITHIN;
    let mut open: Vec<u16> = Vec::new();
    loop {
        interrupt::check()?;
        alive(spec, started)?;
        // Connect to each port only once: further connections would fill a short listen queue.
        let closed: Vec<u16> = spec.ports.iter().filter(|port| !open.contains(port)).copied().collect();
        open.extend(closed.into_iter().filter(|port| answers(&spec.host, *port)));
        let waiting: Vec<String> =
            spec.ports.iter().filter(|port| !open.contains(port)).map(u16::to_string).collect();
        let missing = match (&waiting[..], &spec.health) {
            ([], None) => return alive(spec, started),
            ([], Some(url)) => match status(url) {
                Some(200) => return alive(spec, started),
                Some(code) => format!("`{url}` returns {code}"),
                None => format!("`{url}` does not respond"),
            },
            (ports, _) => format!("no process listens on port {}", ports.join(", ")),
        };
        if Instant::now() > deadline {
            let seconds = WITHIN.as_secs();
            return Err(format!(
                "process `{}` was not healthy within {seconds} s: {missing}\n{}",
                spec.name,
                last_lines(&started.log, 15)
            ));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn alive(spec: &Spec, started: &mut Started) -> Outcome {
    let ended = started.child.try_wait().map_err(|e| format!("cannot wait for `{}`: {e}", spec.name))?;
    match ended {
        None => Ok(()),
        Some(status) => {
            Err(format!("process `{}` died: {status}\n{}", spec.name, last_lines(&started.log, 15)))
        }
    }
}

fn address(host: &str, port: u16) -> Option<SocketAddr> {
    Some(SocketAddr::new(host.parse().ok()?, port))
}

/// Returns whether the port accepts connections. Half a second is long on the loopback, and short in a list.
pub fn answers(host: &str, port: u16) -> bool {
    address(host, port).is_some_and(|a| TcpStream::connect_timeout(&a, Duration::from_millis(500)).is_ok())
}

/// Checks that no other process listens on the port. In the namespace of a link there are no other processes.
fn free(host: &str, port: u16, elsewhere: bool) -> Outcome {
    if elsewhere {
        return Ok(());
    }
    let address = address(host, port).ok_or_else(|| format!("invalid address `{host}`"))?;
    let Err(error) = TcpListener::bind(address) else { return Ok(()) };
    // Only root can find the owner if it belongs to another user; the message always names the port.
    let owner = look::listeners(port / 100).get(&port).and_then(|inode| look::owner(*inode));
    match owner {
        Some(owner) => {
            Err(format!("port {port} is in use by {owner}\nhelp: choose other ports with `--base N`"))
        }
        None => Err(format!("port {port} is in use: {error}\nhelp: choose other ports with `--base N`")),
    }
}

/// Returns the status of a URL. It uses curl, so TLS needs no special handling.
pub fn status(url: &str) -> Option<u16> {
    let mut curl = Command::new("curl");
    curl.args(["-sk", "--noproxy", "*", "--max-time", "2", "-o", "/dev/null", "-w", "%{http_code}", url]);
    let out = curl.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8_lossy(&out.stdout).trim().parse().ok().filter(|code| *code > 0)
}

/// Waits for a child. At the deadline and after an interrupt, ends the child and returns None.
pub fn wait(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>, String> {
    let pid = Pid::from_raw(child.id() as i32);
    let cannot = |e: std::io::Error| format!("cannot wait for a child: {e}");
    loop {
        if let Some(status) = child.try_wait().map_err(cannot)? {
            return Ok(Some(status));
        }
        if interrupt::requested() || Instant::now() > deadline {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    // At a terminal, the child has received Ctrl-C itself; a second signal would cut its orderly end short.
    if interrupt::requested() && ends(child, OWN_END)? {
        return Ok(None);
    }
    // INT first, so that a run file is closed and a package manager unlocks. An error means that it has ended already.
    let _ = kill(pid, Signal::SIGINT);
    if !ends(child, GRACE)? {
        child.kill().map_err(cannot)?;
        child.wait().map_err(cannot)?;
    }
    Ok(None)
}

fn ends(child: &mut Child, within: Duration) -> Result<bool, String> {
    let patience = Instant::now() + within;
    while Instant::now() < patience {
        if child.try_wait().map_err(|e| format!("cannot wait for a child: {e}"))?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(false)
}

/// Ends a process and its whole group. It only signals processes that the lab is known to have started: the leader by
/// its start time, and members of a dead leader's group by the mark in their environment.
pub fn stop(running: &Running, mark: &str) -> Outcome {
    if running.lives() {
        let signal = Signal::try_from(running.stop).unwrap_or(Signal::SIGTERM);
        let sent = if signal == Signal::SIGTERM {
            killpg(Pid::from_raw(running.pid), signal)
        } else {
            kill(Pid::from_raw(running.pid), signal)
        };
        gone_is_fine(sent, &running.name)?;
    } else {
        // The leader has ended, but members of its group may run: signal each of them.
        for pid in members(running, mark) {
            gone_is_fine(kill(Pid::from_raw(pid), Signal::SIGTERM), &running.name)?;
        }
    }
    if wait_for_none(running, mark, GRACE) {
        return Ok(());
    }
    for pid in members(running, mark) {
        gone_is_fine(kill(Pid::from_raw(pid), Signal::SIGKILL), &running.name)?;
    }
    if wait_for_none(running, mark, GRACE) {
        return Ok(());
    }
    Err(format!("process `{}` (PID {}) does not end, not even after KILL", running.name, running.pid))
}

/// Kills every process that still has the mark in its environment. `lab test` reports those that remain.
pub fn stop_marked(mark: &str) {
    for pid in look::marked(mark) {
        // An error means that it has ended in the meantime.
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

fn gone_is_fine(sent: nix::Result<()>, name: &str) -> Outcome {
    match sent {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(e) => Err(format!("cannot stop process `{name}`: {e}")),
    }
}

/// Returns the running processes of its group.
pub fn members(running: &Running, mark: &str) -> Vec<i32> {
    let leader = look::stat(running.pid);
    // If the PID belongs to a new process, so does the group.
    let reused = leader.as_ref().is_some_and(|stat| stat.start != running.start);
    let is_member = |pid: &i32| !reused && (leader.is_some() || look::is_marked(*pid, mark));
    look::group(running.pid).into_iter().filter(is_member).collect()
}

fn wait_for_none(running: &Running, mark: &str, within: Duration) -> bool {
    let deadline = Instant::now() + within;
    loop {
        if members(running, mark).is_empty() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Returns the end of a log, indented, for the message about a failure.
pub fn last_lines(log: &Path, most: usize) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "it printed nothing".into();
    }
    if lines.len() <= most {
        return format!("output:\n    {}", lines.join("\n    "));
    }
    // Some programs print the error first, and then pages of help.
    let (head, tail) = (&lines[..most / 3], &lines[lines.len() - most * 2 / 3..]);
    format!("output:\n    {}\n    ...\n    {}", head.join("\n    "), tail.join("\n    "))
}
