//! Starting one process of a system, in a group of its own and with its words in a file, and waiting until it is
//! healthy. A process that dies on the way is a sentence with the end of what it said.

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

/// From the start of a process until it is healthy: a production server on a busy two-core machine takes 10 s.
pub const WITHIN: Duration = Duration::from_secs(60);
/// Between TERM and KILL. Nobody loads it any more, and what it has been asked for nobody waits for: a server that was
/// driven far over its capacity would otherwise work off its queue for minutes.
const GRACE: Duration = Duration::from_secs(4);
/// What a child that was interrupted by the terminal has to end by itself.
const OWN_END: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// How a process is started.
pub struct Spec {
    /// Unique within the system; names the log.
    pub name: String,
    pub run: Vec<String>,
    /// Where it stands, and what a relative program path starts from.
    pub folder: PathBuf,
    pub env: Vec<(String, String)>,
    /// Another user to run as, when started by root.
    pub user: Option<&'static str>,
    /// A network namespace to run in.
    pub namespace: Option<String>,
    /// Hard and soft limit of descriptors; without it those of the lab.
    pub nofile: Option<u32>,
    /// All of them must answer before it counts as healthy.
    pub ports: Vec<u16>,
    /// Address of the ports: the loopback, or the far end of a link.
    pub host: String,
    /// Address that has to answer 200, after the ports do.
    pub health: Option<String>,
    /// What asks it to end in order: TERM goes to the whole group, anything else to the leader only.
    pub stop: Signal,
}

/// A process that was started by us and is a child of ours.
pub struct Started {
    pub child: Child,
    pub log: PathBuf,
    pub begin: Instant,
}

/// A command with its program looked up: by name on PATH and in the system's folders, by path from its own folder.
pub fn command(run: &[String], folder: &Path) -> Result<Command, String> {
    let (program, arguments) = run.split_first().ok_or("an empty command")?;
    let path = if program.contains('/') {
        Some(folder.join(program)).filter(|path| path.is_file())
    } else {
        shell::find_program(program)
    };
    let path = path.ok_or_else(|| format!("there is no program `{program}`"))?;
    let mut command = Command::new(path);
    command.args(arguments).current_dir(folder);
    // Cargo tells its children about the package that it runs; a `cargo` or a Go build below must not hear it.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_"))
    {
        command.env_remove(name);
    }
    Ok(command)
}

/// Both streams into one file, which is emptied.
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
    // A group of its own: Ctrl-C at the terminal must reach the lab and not its servers, which go down in order.
    command.stdin(Stdio::null()).process_group(0);
    let begin = Instant::now();
    let child = command.spawn().map_err(|e| format!("process `{}`: cannot start: {e}", spec.name))?;
    let pid = child.id() as i32;
    state.processes.push(Running {
        name: spec.name.clone(),
        pid,
        // Gone before it could be looked at: the wait below says why.
        start: look::stat(pid).map_or(0, |stat| stat.start),
        ports: spec.ports.clone(),
        host: spec.host.clone(),
        health: spec.health.clone(),
        stop: spec.stop as i32,
    });
    state.save()?;
    Ok(Started { child, log, begin })
}

/// Each wrapper replaces itself by what it starts: one process, one pid.
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
    // The program's own path is looked up here, because a wrapper looks on PATH only.
    let mut own = spec.run.clone();
    if let Some(first) = own.first_mut()
        && let Some(path) = shell::find_program(first).filter(|_| !first.contains('/'))
    {
        *first = path.display().to_string();
    }
    run.extend(own);
    run
}

/// Until all ports answer and the health address says 200.
pub fn healthy(spec: &Spec, started: &mut Started) -> Outcome {
    // Ports first: asking for health before anybody listens would only fill the log with refusals.
    let deadline = started.begin + WITHIN;
    let mut open: Vec<u16> = Vec::new();
    loop {
        interrupt::check()?;
        alive(spec, started)?;
        // A port that has answered once is not asked again: a server with a short queue of connections would remember.
        let closed: Vec<u16> = spec.ports.iter().filter(|port| !open.contains(port)).copied().collect();
        open.extend(closed.into_iter().filter(|port| answers(&spec.host, *port)));
        let waiting: Vec<String> =
            spec.ports.iter().filter(|port| !open.contains(port)).map(u16::to_string).collect();
        let missing = match (&waiting[..], &spec.health) {
            ([], None) => return alive(spec, started),
            ([], Some(url)) => match status(url) {
                Some(200) => return alive(spec, started),
                Some(code) => format!("`{url}` answers {code}"),
                None => format!("`{url}` does not answer"),
            },
            (ports, _) => format!("nobody listens on port {}", ports.join(", ")),
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

/// Whether somebody accepts connections there. Half a second is long on a loopback, and short in a list.
pub fn answers(host: &str, port: u16) -> bool {
    address(host, port).is_some_and(|a| TcpStream::connect_timeout(&a, Duration::from_millis(500)).is_ok())
}

/// A port of our own to listen on; behind a link nobody else lives.
fn free(host: &str, port: u16, elsewhere: bool) -> Outcome {
    if elsewhere {
        return Ok(());
    }
    let address = address(host, port).ok_or_else(|| format!("`{host}` is no address"))?;
    let Err(error) = TcpListener::bind(address) else { return Ok(()) };
    // Who it is can be read only of one's own processes, or as root; the port is named either way.
    let owner = look::listeners(port / 100).get(&port).and_then(|inode| look::owner(*inode));
    match owner {
        Some(owner) => Err(format!("port {port} is taken by {owner}\nhint: `--base N` chooses other ports")),
        None => Err(format!("port {port} is taken: {error}\nhint: `--base N` chooses other ports")),
    }
}

/// The status that an address answers with, asked by curl (so that TLS is no special case).
pub fn status(url: &str) -> Option<u16> {
    let mut curl = Command::new("curl");
    curl.args(["-sk", "--noproxy", "*", "--max-time", "2", "-o", "/dev/null", "-w", "%{http_code}", url]);
    let out = curl.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8_lossy(&out.stdout).trim().parse().ok().filter(|code| *code > 0)
}

/// The end of a child, or nothing when the deadline passed; at the deadline and at an interruption it is ended.
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
    // At a terminal the child has heard Ctrl-C itself; hearing it twice would cut its own end short.
    if interrupt::requested() && ends(child, OWN_END)? {
        return Ok(None);
    }
    // Asked politely first: a run file is closed, a package manager unlocks. That it is gone already is no error.
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

/// Ends a process and all of its group. Only what is provably ours is touched: the leader by its start time, what a
/// dead leader left behind by our mark in its environment.
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
        // The group may have been left without its leader; its members have to be asked one by one.
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
    Err(format!("process `{}` (pid {}) does not end, not even by KILL", running.name, running.pid))
}

/// Ends by KILL whoever still carries our mark; what is left of them, `lab test` would say.
pub fn stop_marked(mark: &str) {
    for pid in look::marked(mark) {
        // Gone since it was looked at: what was wanted.
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

fn gone_is_fine(sent: nix::Result<()>, name: &str) -> Outcome {
    match sent {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(e) => Err(format!("cannot stop process `{name}`: {e}")),
    }
}

/// Everybody alive who belongs to it.
pub fn members(running: &Running, mark: &str) -> Vec<i32> {
    let leader = look::stat(running.pid);
    // The pid has a new owner: then its group is the owner's too.
    let reused = leader.as_ref().is_some_and(|stat| stat.start != running.start);
    let ours = |pid: &i32| !reused && (leader.is_some() || look::is_marked(*pid, mark));
    look::group(running.pid).into_iter().filter(ours).collect()
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

/// The end of a log, indented, for the sentence about why something failed.
pub fn last_lines(log: &Path, most: usize) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "it said nothing".into();
    }
    if lines.len() <= most {
        return format!("it said:\n    {}", lines.join("\n    "));
    }
    // Some programs say what is wrong first and print pages of help behind it.
    let (head, tail) = (&lines[..most / 3], &lines[lines.len() - most * 2 / 3..]);
    format!("it said:\n    {}\n    ...\n    {}", head.join("\n    "), tail.join("\n    "))
}
