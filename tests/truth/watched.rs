//! Monitors against what is known without them: the kernel's own accounts of a process, the ruler's count of requests,
//! and servers that are short of something on purpose. And that nothing of it is paid for by the load.

use crate::help::{caution, cautions, count, floor, number, undisturbed, unless_noisy};
use crate::provoke::{Line, json, pass, until};
use crate::support::{BINARY, Ruler, Running, Scratch, Tool, alone};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

/// CPU time that a process has used, s: `utime` and `stime` of `/proc/PID/stat`, in ticks of 10 ms.
fn cpu_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// A figure of the first monitor, over the whole of what it watches.
#[track_caller]
fn row<'a>(said: &'a Value, metric: &str) -> &'a Value {
    let rows = said["monitors"][0]["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row["metric"] == metric && row["part"] == "");
    found.unwrap_or_else(|| panic!("no `{metric}` in {:#}", said["monitors"]))
}

#[test]
fn the_cpu_of_a_process_is_what_the_kernel_charged_it() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let watched = format!("process=:{}", ruler.port());
    unless_noisy(|| {
        let before = cpu_s(ruler.pid());
        let said = json(&[&ruler.url("/"), "-c", "20", "-d", "5s", "--monitor", &watched], 0);
        let used = cpu_s(ruler.pid()) - before;
        let mean = number(row(&said, "cpu"), "/mean");
        // The edges of the seconds and a tick of 10 ms at each of them.
        assert!(
            (mean * 5.0 - used).abs() <= used * 0.15 + 0.05,
            "{mean} cores over 5 s, the kernel says {used} s"
        );
        assert!(used > 0.5, "{used} s are not a load");
        let threads = std::fs::read_dir(format!("/proc/{}/task", ruler.pid())).unwrap().count() as f64;
        assert_eq!(number(row(&said, "threads"), "/last"), threads);
    });
}

/// Arrivals are counted from the start of the run, and so are the monitor's instants: what the ruler has seen by then
/// is the rate times the time.
#[test]
fn samples_lie_on_the_time_axis_of_the_run() {
    let _alone = alone();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = scratch.path("count.sh");
    let ask = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}\nprintf 'GET /_test-server/counters HTTP/1.0\\r\\n\\r\\n' >&3\n\
         tr ',{{}}' '\\n\\n\\n' <&3 | sed -n 's/^ *\"requests\": *\\([0-9]*\\)/requests \\1/p' | head -1\n",
        ruler.port()
    );
    std::fs::write(&script, ask).unwrap();
    unless_noisy(|| {
        ruler.get("/_test-server/clear");
        let run_file = scratch.path("run.plim");
        let _ = std::fs::remove_file(&run_file);
        let command = format!("command=bash {script}");
        let args = [&ruler.url("/"), "-r", "1000", "-d", "5s", "--monitor", &command, "--out", &run_file];
        // Whether a stall of this machine made it doubtful is another question: arrivals keep their instants.
        let ended = Tool::run(&args);
        assert!([0, 3].contains(&ended.code), "{}{}", ended.stdout, ended.stderr);
        let lines = Tool::run(&["report", &run_file, "--ndjson"]);
        let mut seen = 0;
        for line in lines.stdout.lines() {
            let second: Value = serde_json::from_str(line).unwrap();
            let Some(watched) = second["watched"].as_object().and_then(|all| all.values().next()) else {
                continue;
            };
            // The sample of a second is taken at its end, and the script needs some milliseconds to ask.
            let end_s = number(&second, "/from_s") + number(&second, "/length_s");
            let (told, truth) = (watched.as_f64().unwrap(), end_s * 1_000.0);
            assert!((told - truth).abs() <= 150.0, "{told} requests at {end_s} s, sent were {truth}");
            seen += 1;
        }
        assert!(seen >= 4, "{seen} samples in 5 s");
    });
}

/// A server that accepts and never answers, one that refuses, and a program that ends with an error.
#[test]
fn monitors_that_fail_are_a_caution_and_cost_the_load_nothing() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hung = format!("redis={}", mute.local_addr().unwrap());
    let refused = format!("prometheus=http://{gone}/metrics");
    let run = |monitors: &[&str]| {
        let url = ruler.url("/");
        let mut args = vec![url.as_str(), "-r", "2000", "-n", "8000", "--seed", "3"];
        for monitor in monitors {
            args.extend(["--monitor", monitor]);
        }
        args.push("--json");
        undisturbed(&args, 0)
    };
    unless_noisy(|| {
        let said = run(&[&hung, &refused, "command=false"]);
        assert_eq!(count(&said, "/totals/requests"), 8_000);
        assert_eq!(said["verdict"]["result"], "PASS");
        let told = caution(&said, "monitor_failed");
        let evidence = told["evidence"].as_str().unwrap();
        assert_eq!(told["severity"], "note", "{told}");
        for name in ["redis", "prometheus", "command"] {
            assert!(evidence.contains(name), "{evidence}");
        }
        let plain = run(&[]);
        assert!(!cautions(&plain).contains(&"monitor_failed"));
        // With the same arrivals: a load that waited for a monitor would be late by hundreds of milliseconds.
        let (with, without) =
            (number(&said, "/client/schedule_lag/p99_ns"), number(&plain, "/client/schedule_lag/p99_ns"));
        // Delays that an idle thread sees as well are not caused by monitors.
        let floor = floor();
        let limit = without * 2.0 + 1e6 + floor.p99_ns as f64 * 2.0;
        assert!(with <= limit, "late by {with} ns with monitors, {without} without ({floor})");
    });
}

/// Three hundred users in one instant before a queue of one place: the kernel counts what it drops, and says that all
/// came at once.
#[test]
fn a_listen_queue_that_overflows_is_seen_by_the_host() {
    let _alone = alone();
    let run = |backlog: &str, load: &[&str]| -> Value {
        let ruler = Ruler::start(&["--backlog", backlog, "--max-connections", "1", "--leave-in-backlog"]);
        let mut line = Line::to(&ruler);
        let url = ruler.url("/");
        let args = [&[url.as_str(), "--json", "--monitor", "host"], load].concat();
        let running: Running = Tool::new(&args).start();
        // The trial connection is the first one, and waits in the queue like the others.
        pass(Duration::from_millis(1_500));
        line.get("/_test-server/set?max_connections=0&leave_in_backlog=0");
        running.wait().json()
    };
    let said = run("1", &["-c", "300", "-d", "4s"]);
    let told = caution(&said, "listen_queue_overflow")["evidence"].as_str().unwrap().to_owned();
    assert!(told.contains("host"), "{told}");
    caution(&said, "thundering_herd");
    let calm = run("4096", &["-c", "300", "-d", "4s"]);
    for code in ["listen_queue_overflow", "thundering_herd"] {
        assert!(!cautions(&calm).contains(&code), "{}", caution(&calm, code));
    }
}

/// A server with a limit of 64 file descriptors.
#[test]
fn a_server_near_its_limit_of_open_files_is_detected() {
    let _alone = alone();
    let held = "import resource,selectors,socket\nresource.setrlimit(resource.RLIMIT_NOFILE,(64,64))\n\
        s=socket.create_server(('127.0.0.1',0),backlog=512)\nprint(s.getsockname()[1],flush=True)\n\
        p=selectors.DefaultSelector()\np.register(s,1)\n\
        while True:\n for key,_ in p.select():\n  if key.fileobj is s:\n   try: c,_=s.accept()\n   \
        except OSError: continue\n   p.register(c,1)\n  else:\n   d=key.fileobj.recv(4096)\n   \
        if not d: p.unregister(key.fileobj); key.fileobj.close(); continue\n   \
        key.fileobj.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')\n";
    let run = |users: &str| against(held, &[], &["-c", users, "-d", "3s"]);
    let told = caution(&run("100"), "process_fd_limit")["evidence"].as_str().unwrap().to_owned();
    assert!(told.contains("64"), "{told}");
    let calm = run("10");
    assert!(!cautions(&calm).contains(&"process_fd_limit"), "{:?}", cautions(&calm));
}

/// A control group of version 1 that may use a twentieth of a CPU; nothing where there is none, or not for this user.
#[test]
fn a_quota_that_throttles_is_seen() {
    let _alone = alone();
    let folder = format!("/sys/fs/cgroup/cpu/plimsoll-test-{}", std::process::id());
    if std::fs::create_dir(&folder).is_err() {
        return;
    }
    let put = |file: &str, value: &str| std::fs::write(format!("{folder}/{file}"), value).is_ok();
    let limited = put("cpu.cfs_period_us", "100000") && put("cpu.cfs_quota_us", "5000");
    if limited {
        let mut command = Command::new("sh");
        let enter = format!(
            "echo $$ > {folder}/tasks; exec {BINARY} test-server --listen 127.0.0.1:0 --until-stdin-closes"
        );
        command.args(["-c", &enter]);
        let ruler = Ruler::from_command(command);
        let watched = format!("cgroup={}", ruler.pid());
        let said =
            Tool::run(&[&ruler.url("/"), "-c", "10", "-d", "4s", "--json", "--monitor", &watched]).json();
        drop(ruler);
        caution(&said, "cpu_throttled");
        let free = Ruler::start(&[]);
        let watched = format!("cgroup={}", free.pid());
        let calm =
            Tool::run(&[&free.url("/"), "-c", "10", "-d", "2s", "--json", "--monitor", &watched]).json();
        assert!(!cautions(&calm).contains(&"cpu_throttled"), "{:?}", cautions(&calm));
    }
    until("the group is empty", || std::fs::remove_dir(&folder).ok());
}

/// Half a minute is too short for a slope: this one takes two.
#[test]
#[ignore = "two runs of two minutes: `cargo xtask nightly`"]
fn a_server_whose_memory_grows_is_seen() {
    let _alone = alone();
    let leak = "import http.server,sys\nkept=[]\nclass H(http.server.BaseHTTPRequestHandler):\n \
        protocol_version='HTTP/1.1'\n def do_GET(self):\n  if len(sys.argv)>1: kept.append(bytearray(20000))\n  \
        self.send_response(200); self.send_header('Content-Length','2'); self.end_headers(); self.wfile.write(b'ok')\n \
        def log_message(self,*a): pass\ns=http.server.ThreadingHTTPServer(('127.0.0.1',0),H)\n\
        print(s.server_address[1],flush=True)\ns.serve_forever()\n";
    let run = |extra: &[&str]| against(leak, extra, &["-r", "100", "-d", "120s"]);
    let grown = run(&["leak"]);
    // 100 requests a second keep 20 kB each: 2 MB/s, 7.2 GB an hour.
    let per_h = number(row(&grown, "rss"), "/slope/bytes_per_h");
    assert!((6.5e9..=8.0e9).contains(&per_h), "{per_h}");
    caution(&grown, "memory_growth");
    let level = run(&[]);
    assert!(!cautions(&level).contains(&"memory_growth"), "{}", caution(&level, "memory_growth"));
}

/// A server with one thread, which works for a millisecond for each answer: that thread is named, although the machine
/// has another CPU to spare.
#[test]
fn a_single_thread_that_is_full_is_named_in_the_verdict() {
    let _alone = alone();
    let busy = "import hashlib,http.server\nclass H(http.server.BaseHTTPRequestHandler):\n def do_GET(self):\n  \
        hashlib.pbkdf2_hmac('sha256',b'x',b'y',8000)\n  self.send_response(200); \
        self.send_header('Content-Length','2'); self.end_headers(); self.wfile.write(b'ok')\n \
        def log_message(self,*a): pass\nclass S(http.server.HTTPServer): request_queue_size=512\n\
        s=S(('127.0.0.1',0),H)\nprint(s.server_address[1],flush=True)\ns.serve_forever()\n";
    unless_noisy(|| {
        let said = against(busy, &[], &["-r", "1500", "-d", "4s", "--timeout", "1s", "--no-keepalive"]);
        assert_eq!(said["verdict"]["result"], "FAIL", "{}", said["verdict"]);
        let sentence = said["verdict"]["sentence"].as_str().unwrap();
        assert!(sentence.contains("bottleneck"), "{sentence}");
        assert!(sentence.contains("thread"), "{sentence}");
    });
}

/// The result of a load on a server of a few lines that prints its port, which is watched as a process.
fn against(server: &str, extra: &[&str], load: &[&str]) -> Value {
    let mut child = Command::new("python3")
        .args([&["-c", server], extra].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let (url, watched) = (format!("http://127.0.0.1:{}/", port.trim()), format!("process={}", child.id()));
    let said = Tool::run(&[&[url.as_str(), "--json", "--monitor", &watched], load].concat()).json();
    child.kill().unwrap();
    child.wait().unwrap();
    said
}
