//! The way to the service: a link that is full, attempts to connect that are lost, and nothing but distance.

use super::{silent, warns};
use crate::help::{number, unless_noisy};
use crate::provoke::{Elsewhere, json, pass, shell, until};
use crate::support::{Ruler, Running, Tool, alone, alongside_first, namespace};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A shaper (tbf) in front of the cable: 50 Mbit/s, and a queue of 80 kB that drops what does not fit.
#[test]
fn a_link_that_is_full_is_said() {
    namespace::inside("trust::way::a_link_that_is_full_is_said", "", alone, || {
        let elsewhere = Elsewhere::new("10.77.0.1/24", "10.77.0.2/24");
        let ruler = elsewhere.ruler("10.77.0.2:0");
        elsewhere.shell("tc qdisc add dev cable1 root tbf rate 50mbit burst 8kb limit 80000");
        unless_noisy(|| {
            let said = json(&[&ruler.url("/?body=96k"), "-c", "4", "-d", "5s"], 0);
            let told = warns(&said, "network_saturated");
            // 50 Mbit/s of frames are 47.8 of what TCP carries in them.
            let mbit = told.split(" bytes/s (").nth(1).and_then(|rest| rest.split(' ').next());
            let mbit: f64 = mbit.unwrap().parse().unwrap();
            assert!((45.0..=48.5).contains(&mbit), "{told}");
        });
    });
}

/// As many bytes on a free cable; and answers that are slow before their first byte, side by side with them.
#[test]
fn a_link_with_room_is_not_called_full() {
    namespace::inside("trust::way::a_link_with_room_is_not_called_full", "", alone, || {
        let elsewhere = Elsewhere::new("10.77.0.1/24", "10.77.0.2/24");
        let ruler = elsewhere.ruler("10.77.0.2:0");
        let start = |path: &str| Tool::new(&[&ruler.url(path), "-c", "4", "-d", "5s", "--json"]).start();
        let (free, slow) = (start("/?body=96k"), start("/?body=16k&delay=20ms"));
        for twin in [free, slow] {
            silent(&twin.wait().expect_code(0).json(), "network_saturated");
        }
    });
}

/// A server that sends each connection 16 kB every 20 ms looks the same except for the losses, and may also be a server
/// that generates its bodies slowly. plimsoll cannot distinguish these, so it raises no caution.
#[test]
fn a_server_that_paces_each_connection_is_not_called_a_link() {
    alongside_first(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || paced(stream));
            }
        });
        let said = json(&[&url, "-c", "4", "-d", "5s"], 0);
        let (first, body) =
            (number(&said, "/phases/time_to_first_byte/mean_ns"), number(&said, "/phases/download/mean_ns"));
        assert!(body > first * 10.0, "it does look alike: {}", said["phases"]);
        silent(&said, "network_saturated");
    });
}

/// Five parts of a body, the last four after 20 ms each.
fn paced(mut stream: TcpStream) {
    let mut request = [0; 4_096];
    while let Ok(1..) = stream.read(&mut request) {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 80000\r\n\r\n";
        let mut written = stream.write_all(head);
        for part in 0..5 {
            pass(Duration::from_millis(if part == 0 { 0 } else { 20 }));
            written = written.and_then(|()| stream.write_all(&[b'x'; 16_000]));
        }
        if written.is_err() {
            return;
        }
    }
}

/// A listen queue with one place, and three hundred users at the same time: a user that finds it full gets no response,
/// and retries after a second.
#[test]
fn attempts_to_connect_that_were_lost_are_said() {
    alongside_first(|| {
        let held = ["--max-connections", "1", "--leave-in-backlog"];
        let run = |backlog: &str| -> Value {
            let ruler = Ruler::start(&[&["--backlog", backlog], &held[..]].concat());
            let mut line = crate::provoke::Line::to(&ruler);
            let running: Running = Tool::new(&[&ruler.url("/"), "-c", "300", "-d", "2s", "--json"]).start();
            // The trial connection is the first one, and waits in the queue like the others.
            pass(Duration::from_millis(400));
            line.get("/_test-server/set?max_connections=0&leave_in_backlog=0");
            running.wait().json()
        };
        let said = run("1");
        let told = warns(&said, "syn_retransmits");
        assert!(told.contains(" by 1 s"), "{told}");
        assert!(number(&said, "/phases/connect/max_ns") > 0.99e9, "{}", said["phases"]);
        // The same server, as late, with room in its queue: its first answers are late, its connections are not.
        let calm = run("4096");
        silent(&calm, "syn_retransmits");
        assert!(number(&calm, "/response_time/max_ns") > 0.3e9, "{}", calm["response_time"]);

        // Slow by whole seconds, and no SYN was lost.
        let slow = Ruler::start(&["--delay", "1s"]);
        silent(&json(&[&slow.url("/"), "-c", "50", "-n", "100", "--no-keepalive"], 0), "syn_retransmits");
    });
}

/// A far place: what is sent to 10.78.0.2 comes back 10 ms later as if from there, so this machine talks to itself
/// across a distance. Source and target change places, which leaves both checksums as they are.
const FAR: &str = r#"
import fcntl, heapq, os, select, struct, sys, time
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", b"far0", 0x1001))
print("there", flush=True)
held = []
while True:
    wait = max(0.0, held[0][0] - time.monotonic()) if held else None
    ready, _, _ = select.select([tun, 0], [], [], wait)
    if 0 in ready:
        sys.exit(0)
    if tun in ready:
        packet = os.read(tun, 65536)
        back = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
        heapq.heappush(held, (time.monotonic() + 0.010, len(held), back))
    while held and held[0][0] <= time.monotonic():
        os.write(tun, heapq.heappop(held)[2])
"#;

struct Far(Child);

impl Far {
    /// `None` where there is no device for it, or no Python.
    fn new() -> Option<Self> {
        std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").ok()?;
        let mut command = Command::new("python3");
        command.args(["-c", FAR]).stdin(Stdio::piped()).stdout(Stdio::null());
        let far = Self(command.spawn().ok()?);
        until("the far place is there", || {
            std::path::Path::new("/proc/self/net/dev_snmp6/far0").exists().then_some(())
        });
        shell("ip addr add 10.78.0.1 peer 10.78.0.2 dev far0\nip link set far0 up");
        Some(far)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.0.stdin.take() {
            let _ = stdin.write_all(b"end");
        }
        let _ = self.0.wait();
    }
}

#[test]
fn distance_that_was_measured_is_said() {
    namespace::inside("trust::way::distance_that_was_measured_is_said", "", alone, || {
        let Some(_far) = Far::new() else {
            eprintln!("not tested: a far place needs python3 and /dev/net/tun");
            return;
        };
        let mut command = Command::new(crate::support::BINARY);
        command.args(["test-server", "--listen", "10.78.0.1:0", "--until-stdin-closes", "--seconds", "600"]);
        let ruler = Ruler::from_command(command);
        let far = |path: &str| format!("http://10.78.0.2:{}{path}", ruler.port());
        unless_noisy(|| {
            let said = json(&[&far("/"), "-c", "4", "-d", "2s"], 0);
            let floor_ns = number(&said, "/client/rtt_min_ns");
            assert!((20e6..25e6).contains(&floor_ns), "two ways of 10 ms: {floor_ns} ns");
            let told = warns(&said, "rtt_bound");
            assert!(told.contains("4 users cannot exceed 1"), "{told}");
            // As far, and slow itself; and near.
            silent(&json(&[&far("/?delay=30ms"), "-c", "4", "-d", "1s"], 0), "rtt_bound");
            silent(&json(&[&far("/"), "-r", "20", "-d", "1s"], 0), "rtt_bound");
            silent(&json(&[&ruler.url("/"), "-c", "4", "-d", "1s"], 0), "rtt_bound");
        });
    });
}
