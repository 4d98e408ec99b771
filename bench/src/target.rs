//! The target: `bench/rawserver.c`, compiled here, started on a free port, asked for its own counters.

use super::{Context, child};
use chore::Outcome;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The C programs of the bench.
pub struct Programs {
    pub rawserver: PathBuf,
    pub hiccup: PathBuf,
}

impl Programs {
    /// Compiled at each start, which takes a second, so that no file times need to be trusted.
    pub fn compile(sources: &Path, folder: &Path) -> Result<Programs, String> {
        let one = |name: &str| {
            let (source, program) = (sources.join(format!("{name}.c")), folder.join(name));
            let mut command = Command::new("cc");
            command.args(["-O2", "-Wall", "-o"]).arg(&program).arg(&source);
            chore::shell::run(&mut command).map(|()| program)
        };
        Ok(Programs { rawserver: one("rawserver")?, hiccup: one("hiccup")? })
    }
}

/// A running target; it ends when this value is dropped.
pub struct RawServer {
    child: Child,
    port: u16,
    stamps: PathBuf,
}

/// A server that counts requests independently of any generator.
pub trait Target {
    fn counters(&self) -> Result<Counters, String>;
    /// CPU seconds that the target has used.
    fn cpu_s(&self) -> f64;
    /// Whether reading the counters is itself counted as a request.
    fn counts_readings(&self) -> bool {
        true
    }
}

/// The counts of the server.
#[derive(Debug, PartialEq, Eq)]
pub struct Counters {
    /// Requests, without the status request.
    pub served: u64,
    /// Open connections, without that of the status request.
    pub open: u64,
}

impl RawServer {
    /// With `stamp`, it also records when each request arrived.
    pub fn start(context: &Context, stamp: bool) -> Result<RawServer, String> {
        RawServer::with(context, stamp, &[])
    }

    /// With further arguments.
    pub fn with(context: &Context, stamp: bool, more: &[&str]) -> Result<RawServer, String> {
        let stamps = context.folder.join("arrivals");
        let mut command = child::pinned(context, 1, &context.programs.rawserver);
        command.args(more);
        if stamp {
            command.arg("-t").arg(&stamps);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cannot start the target: {e}"))?;
        let stdout = child.stdout.take().ok_or("the target has no output")?;
        let mut server = RawServer { child, port: 0, stamps };
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(|e| format!("cannot read from the target: {e}"))?;
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        server.port =
            port.ok_or_else(|| format!("the target printed `{}` instead of its address", line.trim()))?;
        Ok(server)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Drops all stamps so far.
    pub fn forget(&self) -> Outcome {
        remove_if_there(&self.stamps)?;
        self.signal(Signal::SIGUSR2)?;
        // The server handles the signal in its next loop; requesting the counters ensures that there was one.
        // A second signal, sent before anything else, removes the stamp of that request.
        self.counters()?;
        self.signal(Signal::SIGUSR2)
    }

    /// Arrival times since `forget`, in ns of the monotonic clock.
    pub fn arrivals(&self) -> Result<Vec<u64>, String> {
        self.signal(Signal::SIGUSR1)?;
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.stamps.exists() {
            if Instant::now() > deadline {
                return Err("the target wrote no arrival times within 10 s".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let bytes = std::fs::read(&self.stamps).map_err(|e| format!("cannot read arrival times: {e}"))?;
        let (stamps, _) = bytes.as_chunks::<8>();
        Ok(stamps.iter().map(|stamp| u64::from_le_bytes(*stamp)).collect())
    }

    fn signal(&self, signal: Signal) -> Outcome {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, signal).map_err(|e| format!("cannot signal the target: {e}"))
    }
}

impl Target for RawServer {
    fn counters(&self) -> Result<Counters, String> {
        let cannot = |e: std::io::Error| format!("cannot read the target's counters: {e}");
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(cannot)?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(cannot)?;
        stream.write_all(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n").map_err(cannot)?;
        let mut text = Vec::new();
        let mut buffer = [0; 512];
        // The counters are one line after the head, and the only one that ends in a lone line feed.
        while !text.ends_with(b"\n") || text.ends_with(b"\r\n") {
            let n = stream.read(&mut buffer).map_err(cannot)?;
            if n == 0 {
                return Err("the target closed before its counters were read".into());
            }
            text.extend_from_slice(&buffer[..n]);
        }
        read_counters(&String::from_utf8_lossy(&text))
            .ok_or_else(|| "the target's counters are invalid".into())
    }

    fn cpu_s(&self) -> f64 {
        process_cpu_s(self.child.id())
    }
}

/// Requests a page about a server itself: the whole response, head and body. HTTP/1.0, so that closing ends it.
pub fn ask(port: u16, path: &str) -> Result<String, String> {
    let cannot = |e: std::io::Error| format!("cannot ask port {port} for `{path}`: {e}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(cannot)?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(cannot)?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: x\r\n\r\n").as_bytes()).map_err(cannot)?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(cannot)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// CPU seconds that a running process has used.
pub fn process_cpu_s(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // utime and stime are fields 14 and 15; the name before them may hold blanks, but ends in `)`.
    let rest = text.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks: f64 = rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_S
}

impl Drop for RawServer {
    fn drop(&mut self) {
        // The target may already be gone; the wait only reaps it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Linux reports CPU times of `/proc` in units of 1/100 s on every architecture (USER_HZ).
const TICKS_PER_S: f64 = 100.0;

fn read_counters(text: &str) -> Option<Counters> {
    let number = |name: &str| text.split_once(name)?.1.split_whitespace().next()?.parse::<u64>().ok();
    Some(Counters { served: number("served ")?.checked_sub(1)?, open: number("open ")?.checked_sub(1)? })
}

/// A failed or killed round leaves its run file, and SQLite's two files next to it; plimsoll refuses to overwrite
/// them. So each round removes them before it starts.
pub fn remove_run_files(folder: &Path) -> Outcome {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = super::tools::run_file(folder).into_os_string();
        name.push(suffix);
        remove_if_there(Path::new(&name))?;
    }
    Ok(())
}

pub fn remove_if_there(path: &Path) -> Outcome {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove `{}`: {e}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_request_itself_is_not_counted() {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\nserved 8 accepted 3 open 1\n";
        assert_eq!(read_counters(answer), Some(Counters { served: 7, open: 0 }));
        assert_eq!(read_counters("HTTP/1.1 500\r\n\r\n"), None);
    }
}
