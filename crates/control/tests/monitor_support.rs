//! Shared by the tests of monitors: a real child process that follows orders, directories of files, and short accessors
//! of readings.
#![allow(dead_code, clippy::expect_used, clippy::unwrap_used)]

use plimsoll_control::monitor::{Found, Moment, Probe};
use plimsoll_record::event::Reading;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// A Python program that reads orders, one per line, and responds to each with a line when it is done. It ends when its
/// stdin closes, and therefore with the test; its children end with a pipe to it.
pub struct Servant {
    child: std::process::Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

const SERVANT: &str = r#"
import os, signal, socket, sys, threading, time
held = []
life, hold = os.pipe()
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def wait_for_the_end():
    os.close(hold)
    os.read(life, 1)
    os._exit(0)
def orders(word, number):
    if word == 'burn': burn(number)
    if word == 'threads':
        done = threading.Semaphore(0)
        def work(): burn(number); done.release(); os.read(life, 1)
        for _ in range(2): threading.Thread(target=work, daemon=True).start()
        for _ in range(2): done.acquire()
    if word == 'open': held.extend(open('/dev/null') for _ in range(int(number)))
    if word == 'name': open('/proc/self/comm', 'w').write(sys.argv[1])
    if word == 'ignore': signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if word == 'waited':
        pid = os.fork()
        if pid == 0: burn(number); os._exit(0)
        os.waitpid(pid, 0)
    if word == 'child':
        burnt, burns = os.pipe()
        pid = os.fork()
        if pid == 0:
            burn(number); os.write(burns, b'x'); wait_for_the_end()
        os.read(burnt, 1)
        return pid
    if word == 'nest':
        told, tells = os.pipe()
        pid = os.fork()
        if pid == 0:
            if os.fork() == 0: os.write(tells, b'x')
            wait_for_the_end()
        os.read(told, 1)
        return pid
    if word == 'kill':
        os.kill(int(number), 9)
        try: os.waitpid(int(number), 0)
        except ChildProcessError: pass
    if word == 'listen':
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(('127.0.0.1', int(number))); s.listen(); held.append(s)
        return s.getsockname()[1]
    if word == 'full':
        s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(1); held.append(s)
        return s.getsockname()[1]
    return 0
for line in sys.stdin:
    word, number = line.split()
    print(orders(word, float(number)), flush=True)
"#;

impl Servant {
    /// `nofile` is its soft limit on open files. `name` is the process name that the order `name` sets.
    pub fn start(nofile: Option<u32>, name: &str) -> Servant {
        let limit = nofile.map_or(String::new(), |n| format!("ulimit -n {n}; "));
        let script = format!("{limit}exec python3 -c \"$0\" \"$1\" --password=hunter2");
        let mut child = Command::new("sh")
            .args(["-c", &script, SERVANT, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut servant = Servant { child, orders, answers };
        // Only Python responds, so its startup is over.
        servant.order("ready", 0.0);
        servant
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns when the order is done.
    pub fn order(&mut self, word: &str, number: f64) -> u32 {
        let orders = self.orders.as_mut().expect("it has not been dropped");
        writeln!(orders, "{word} {number}").expect("the servant reads orders");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        answer.trim().parse().unwrap_or_else(|_| panic!("`{word}` is answered by a number, not `{answer}`"))
    }
}

impl Drop for Servant {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}

/// The current time, as in the threads of monitors.
pub fn now(begin: Instant) -> Moment {
    Moment { now_ns: begin.elapsed().as_nanos() as u64 }
}

/// Returns the time `number` seconds after the start, for probes whose files the test writes.
pub fn second(number: u64) -> Moment {
    Moment { now_ns: number * 1_000_000_000 }
}

pub fn reading<'a>(found: &'a Found, part: &str, metric: &str) -> Option<&'a Reading> {
    found.readings.iter().find(|reading| reading.part == part && reading.metric == metric)
}

/// Returns the value of an existing reading.
pub fn value(found: &Found, part: &str, metric: &str) -> f64 {
    let Some(reading) = reading(found, part, metric) else {
        let all: Vec<_> = found.readings.iter().map(|r| format!("{}/{}", r.part, r.metric)).collect();
        panic!("no reading `{part}/{metric}` in {all:?}")
    };
    reading.value
}

pub fn limit(found: &Found, part: &str, metric: &str) -> Option<f64> {
    reading(found, part, metric).unwrap_or_else(|| panic!("there is `{metric}`")).limit
}

/// Returns the error of a sample.
pub fn trouble(probe: &mut dyn Probe, at: Moment) -> String {
    probe.look(at).expect_err("the sample fails").0
}

pub fn fact<'a>(found: &'a Found, name: &str) -> Option<&'a str> {
    found.facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1.as_str())
}

/// A directory that is removed with its value.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("monitor-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("the target directory is writable");
        Folder(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file such as `/proc/stat` below it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("it is writable");
        std::fs::write(path, text).expect("it is writable");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
