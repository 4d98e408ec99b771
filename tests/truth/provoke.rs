//! Real causes: what makes a connection, a machine or a network misbehave, for the tests that look whether the tool
//! says so. Nothing here is pretended to the tool: the kernel itself refuses, drops, stops or runs out.

use crate::help::undisturbed;
use crate::support::{BINARY, Ruler, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs to the end; the document of a run that ended with this code.
#[track_caller]
pub fn json(args: &[&str], code: i32) -> Value {
    undisturbed(&[args, &["--json"]].concat(), code)
}

/// Starts a run, and calls `act` in the middle of the load.
#[track_caller]
pub fn middle(ruler: &Ruler, args: &[&str], code: i32, act: impl FnOnce()) -> Value {
    ruler.get("/_test-server/clear");
    let running = Tool::new(&[args, &["--json"]].concat()).start();
    ruler.wait_for_requests(50);
    act();
    running.wait().expect_code(code).json()
}

/// All failures of a run: class to (side, count).
pub fn faults(json: &Value) -> BTreeMap<String, (String, u64)> {
    let rows = |place: &str| json.pointer(place).and_then(Value::as_array).cloned().unwrap_or_default();
    [rows("/errors"), rows("/client/faults")]
        .concat()
        .iter()
        .map(|row| {
            let text = |field: &str| row[field].as_str().unwrap_or("?").to_owned();
            (text("class"), (text("side"), row["count"].as_u64().unwrap_or(0)))
        })
        .collect()
}

/// The count of the only class that failed.
#[track_caller]
pub fn only(json: &Value, class: &str, side: &str) -> u64 {
    let found = faults(json);
    let count = found.get(class).map_or(0, |row| row.1);
    let wanted = BTreeMap::from([(class.to_owned(), (side.to_owned(), count))]);
    assert_eq!(found, wanted, "{}", json["verdict"]);
    assert!(count > 0, "{class} was not counted");
    count
}

#[track_caller]
pub fn no_faults(json: &Value) {
    assert_eq!(faults(json), BTreeMap::new(), "{}", json["verdict"]);
}

/// Returns the reasons of the verdict.
pub fn reasons(json: &Value) -> Vec<&str> {
    json["verdict"]["reasons"]
        .as_array()
        .map_or(Vec::new(), |all| all.iter().filter_map(Value::as_str).collect())
}

/// A shell script that must succeed; its output.
#[track_caller]
pub fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-ec", script]).output().expect("there is a shell");
    assert!(output.status.success(), "`{script}`: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The tool started by a shell that runs `before` in its own process first, such as `ulimit -n 256`.
pub fn after(before: &str, args: &[&str]) -> Tool {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before}\nexec \"$0\" \"$@\""), BINARY]).args(args);
    Tool::of(command)
}

/// An empty nftables chain for packets that leave this network, for the setup of a namespace.
pub const FIREWALL: &str = "nft add table inet test\n\
     nft 'add chain inet test out { type filter hook output priority 0; }'";

/// Adds a rule to [`FIREWALL`].
#[track_caller]
pub fn firewall(rule: &str) {
    shell(&format!("nft add rule inet test out {rule}"));
}

/// An nftables chain for lost packets: it is after the sender, which does not notice the loss.
pub const LOSSES: &str = "nft add table inet test\n\
     nft 'add chain inet test in { type filter hook input priority 0; }'";

/// Loses what matches, with [`LOSSES`].
#[track_caller]
pub fn lose(what: &str) {
    shell(&format!("nft add rule inet test in {what} counter drop"));
}

/// Returns the number of packets that [`lose`] has dropped.
#[track_caller]
pub fn lost() -> u64 {
    let rules = shell("nft list chain inet test in");
    let mut words = rules.split_whitespace().skip_while(|word| *word != "packets");
    words.nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no counter:\n{rules}"))
}

/// Applies routing rules before the table of local addresses, so that routes to this machine can be blocked. For the
/// setup of a namespace.
pub const ROUTES_FIRST: &str = "ip rule add pref 100 lookup local\nip rule del pref 0";

/// A connection to the ruler that stays open, to ask it when it takes no others.
pub struct Line(BufReader<TcpStream>);

impl Line {
    pub fn to(ruler: &Ruler) -> Self {
        let stream = TcpStream::connect(ruler.address()).expect("the ruler listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
        let mut line = Self(BufReader::new(stream));
        // The first request is a command, so the ruler does not count this connection.
        line.get("/_test-server/counters");
        line
    }

    #[track_caller]
    pub fn get(&mut self, path: &str) -> String {
        write!(self.0.get_mut(), "GET {path} HTTP/1.1\r\nHost: ruler\r\n\r\n").expect("the ruler reads");
        let mut length = 0;
        loop {
            let mut text = String::new();
            assert!(self.0.read_line(&mut text).expect("the ruler answers") > 0, "the ruler closed");
            match text.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("a length");
                }
                None if text.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("a whole answer");
        String::from_utf8(body).expect("the ruler speaks text")
    }

    pub fn counters(&mut self) -> Value {
        serde_json::from_str(&self.get("/_test-server/counters")).expect("the ruler speaks JSON")
    }
}

/// The action of a [`canned`] server after a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    KeepOpen,
    Close,
}

/// Starts a server whose responses are exactly these bytes; returns its port. Its threads end with the test's process.
pub fn canned(address: &str, answer: impl Into<Vec<u8>>, then: Then) -> u16 {
    let answer = answer.into();
    let listener = TcpListener::bind((address, 0)).expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || serve(stream, &answer, then));
        }
    });
    port
}

fn serve(mut stream: TcpStream, answer: &[u8], then: Then) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4_096]);
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..n]);
        if !seen.windows(4).any(|w| w == b"\r\n\r\n") {
            continue;
        }
        seen.clear();
        // Everything has been read, so the close is a FIN and no reset.
        if stream.write_all(answer).is_err() || then == Then::Close {
            return;
        }
    }
}

/// Programs that want one CPU and never rest, until dropped.
pub struct Hogs(Vec<Child>);

impl Hogs {
    /// Starts `count` hogs on one CPU. Each ends by itself after a minute, in case the test is killed.
    pub fn on(cpu: u32, count: usize) -> Self {
        let hog = || {
            let mut command = Command::new("taskset");
            command.args(["-c", &cpu.to_string(), "timeout", "60", "sh", "-c", "while :; do :; done"]);
            command.stdin(Stdio::null()).spawn().expect("`taskset` (util-linux) is needed")
        };
        Self((0..count).map(|_| hog()).collect())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // `timeout` hands the signal on to what it runs.
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }
}

/// Another machine, as far as the network can tell: a namespace at the other end of a cable (veth). Ends when dropped.
pub struct Elsewhere(Child);

impl Elsewhere {
    /// `here` and `there` are the addresses of the cable's ends, with their prefix. Inside a namespace only.
    pub fn new(here: &str, there: &str) -> Self {
        let mut command = Command::new("unshare");
        let child = command.args(["-n", "cat"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let elsewhere = Self(child.expect("`unshare` (util-linux) is needed"));
        let network = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        until("the other network is there", || {
            let pid = elsewhere.0.id().to_string();
            network(&pid).is_some_and(|there| Some(there) != network("self")).then_some(())
        });
        let pid = elsewhere.0.id();
        shell(&format!(
            "ip link add cable0 type veth peer name cable1 netns {pid}\n\
             ip addr add {here} dev cable0\n\
             ip link set cable0 up\n\
             nsenter -t {pid} -n sh -ec 'ip link set lo up; ip addr add {there} dev cable1; ip link set cable1 up'"
        ));
        elsewhere
    }

    /// Runs a shell script in the network over there; its end of the cable is `cable1`.
    #[track_caller]
    pub fn shell(&self, script: &str) {
        shell(&format!("nsenter -t {} -n sh -ec '{script}'", self.0.id()));
    }

    /// A ruler over there.
    pub fn ruler(&self, listen: &str) -> Ruler {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.0.id().to_string(), "-n", BINARY, "test-server", "--listen", listen]);
        command.args(["--until-stdin-closes", "--seconds", "600"]);
        Ruler::from_command(command)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A new memory cgroup (version 1) whose OOM killer is off: when it is full, the kernel denies memory to sockets
/// instead of killing processes. Version 2 always kills.
pub struct MemoryCgroup(PathBuf);

impl MemoryCgroup {
    /// `None` where there is no such thing, or not for this user.
    pub fn new() -> Option<Self> {
        let list = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let mine = list.lines().find_map(|line| line.split_once(":memory:"))?.1;
        let folder = format!("/sys/fs/cgroup/memory{mine}/plimsoll-test-{}", std::process::id());
        std::fs::create_dir(&folder).ok()?;
        let cgroup = Self(folder.into());
        cgroup.set("memory.oom_control", "1").then_some(cgroup)
    }

    fn set(&self, file: &str, value: &str) -> bool {
        std::fs::write(self.0.join(file), value).is_ok()
    }

    fn get(&self, file: &str) -> u64 {
        std::fs::read_to_string(self.0.join(file)).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Sets the limit so that this much memory is left.
    pub fn leave(&self, bytes: u64) {
        // Cached files would only be forgotten first.
        self.set("memory.force_empty", "0");
        self.set("memory.failcnt", "0");
        // Below what is in use is refused, and the use goes up and down.
        until("the limit is set", || {
            let limit = self.get("memory.usage_in_bytes") + bytes;
            self.set("memory.limit_in_bytes", &limit.to_string()).then_some(())
        });
    }

    /// Waits until the kernel has denied memory many times, and then removes the limit. The kernel fixes single
    /// failures itself by dropping cached files. A thread that touches new anonymous memory sleeps in the meantime
    /// (`under_oom`), while the others continue for a while.
    pub fn refuse(&self) {
        let control = self.0.join("memory.oom_control");
        let sleeps = || std::fs::read_to_string(&control).is_ok_and(|text| text.contains("under_oom 1"));
        until("memory is refused", || (sleeps() || self.get("memory.failcnt") > 1_000).then_some(()));
        pass(Duration::from_millis(200));
        assert!(self.set("memory.limit_in_bytes", "-1"));
    }

    /// Returns the shell command that moves the shell into the cgroup.
    pub fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.0.display())
    }
}

impl Drop for MemoryCgroup {
    fn drop(&mut self) {
        self.set("memory.limit_in_bytes", "-1");
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Polls for a condition without an event.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within 20 s");
        std::thread::yield_now();
    }
}

/// Lets time pass. For causes that have a length, such as a stop of one second: that length is what is measured.
pub fn pass(time: Duration) {
    let (_nobody, receive) = std::sync::mpsc::channel::<()>();
    let _ = receive.recv_timeout(time);
}

/// The CPUs that this process may use, by number.
pub fn cpus_of_this_test() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    let ends = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    };
    list.split(',').filter_map(ends).flat_map(|(from, to): (u32, u32)| from..=to).collect()
}
