//! The nginx monitor: a real nginx, logs in every supported format, and failing servers.

use crate::monitor_support::{Folder, fact, reading, second, trouble, value};
use plimsoll_control::monitor::{Nginx, PATIENCE, Probe, Trust};
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

fn monitor(status: Option<String>, access_log: Option<PathBuf>) -> Nginx {
    let nginx = watch::Nginx { status: status.as_deref().map(Secret::new), access_log };
    Nginx::new(&nginx, &Trust::default())
}

/// A real nginx. A shell ends it when its stdin closes, and therefore with the test.
struct Server {
    shell: Child,
    stdin: Option<ChildStdin>,
    port: u16,
    folder: Folder,
}

const GUARD: &str = r#"exec 3<&0
nginx -p "$0" -e error.log -c nginx.conf 3<&- & server=$!
{ cat <&3 >/dev/null; kill -TERM $server 2>/dev/null; } &
exec 3<&-
wait $server"#;

impl Server {
    fn start() -> Server {
        // Another process may take the port between the choice and the start.
        (0..5).find_map(|_| Server::try_start()).expect("nginx is installed and finds a port in five tries")
    }

    fn try_start() -> Option<Server> {
        let folder = Folder::new();
        let held = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = held.local_addr().expect("it is bound").port();
        drop(held);
        let log = "log_format timed '$remote_addr \"$request\" status=$status request_time=$request_time \
                   upstream_response_time=$upstream_response_time';";
        let text = format!(
            "daemon off; pid nginx.pid; worker_processes 1; events {{ worker_connections 64; }}\n\
             http {{ {log} client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; \
             scgi_temp_path t;\n\
             server {{ listen 127.0.0.1:{port}; access_log access.log timed;\n\
             location = /status {{ stub_status; access_log off; }}\n\
             location /bad {{ return 503; }} location / {{ return 200 fine; }} }} }}\n"
        );
        folder.write("nginx.conf", &text);
        let mut shell = Command::new("sh")
            .args(["-c", GUARD])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let stdin = shell.stdin.take();
        let mut server = Server { shell, stdin, port, folder };
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(20) {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(server);
            }
            if server.shell.try_wait().expect("it is a child process").is_some() {
                return None;
            }
            std::thread::yield_now();
        }
        None
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: a\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn status(&self) -> Option<String> {
        Some(format!("http://127.0.0.1:{}/status", self.port))
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("access.log")
    }

    /// nginx writes a line after it has responded.
    fn has_logged(&self, lines: usize) {
        let begin = Instant::now();
        while std::fs::read_to_string(self.log()).unwrap_or_default().lines().count() < lines {
            assert!(begin.elapsed() < Duration::from_secs(10), "{lines} lines in the log");
            std::thread::yield_now();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.shell.wait();
    }
}

#[test]
fn a_real_nginx_is_counted_on_its_page_and_in_its_log() {
    let server = Server::start();
    let mut nginx = monitor(server.status(), Some(server.log()));
    server.get("/before");
    server.has_logged(1);
    let first = nginx.look(second(1)).unwrap();
    assert!(fact(&first, "server").unwrap().starts_with("nginx"), "{first:?}");
    assert!(reading(&first, "", "requests").is_none() && reading(&first, "", "logged_requests").is_none());
    for path in ["/", "/?status=500", "/bad", "/bad", "/"] {
        server.get(path);
    }
    server.has_logged(6);
    let held = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let found = nginx.look(second(3)).unwrap();
    // Each sample of the status page is a request, too.
    assert_eq!(value(&found, "", "requests"), 3.0);
    assert_eq!(value(&found, "", "logged_requests"), 2.5);
    assert_eq!((value(&found, "", "status_5xx"), value(&found, "", "status_4xx")), (1.0, 0.0));
    assert_eq!(value(&found, "", "dropped"), 0.0);
    assert!(value(&found, "", "accepted") >= 2.5 && value(&found, "", "active") >= 1.0);
    assert!((0.0..0.1).contains(&value(&found, "", "request_time_p99")));
    assert!(reading(&found, "", "upstream_response_time_mean").is_none(), "there was no upstream");
    drop(held);
    // A rename and the signal, as in log rotation.
    std::fs::rename(server.log(), server.folder.path().join("access.log.1")).unwrap();
    server.get("/old");
    let pid = std::fs::read_to_string(server.folder.path().join("nginx.pid")).unwrap();
    assert!(Command::new("kill").args(["-USR1", pid.trim()]).status().unwrap().success());
    let begin = Instant::now();
    while !server.log().exists() && begin.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    server.get("/new");
    let begin = Instant::now();
    let mut seen = 0.0;
    for number in 4.. {
        seen += value(&nginx.look(second(number)).unwrap(), "", "logged_requests");
        if seen >= 2.0 || begin.elapsed() > Duration::from_secs(10) {
            break;
        }
    }
    assert_eq!(seen, 2.0, "one line in each file");
}

/// Serves one page of counters, then stops listening.
fn answer_once(listener: TcpListener) {
    let (mut stream, _) = listener.accept().expect("the monitor connects");
    let mut block = [0; 1024];
    let _ = stream.read(&mut block).expect("the monitor sends a request");
    let page = "Active connections: 1 \nserver accepts handled requests\n 5 5 9 \nReading: 0 Writing: 1 Waiting: 0 \n";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", page.len());
    stream.write_all((head + page).as_bytes()).expect("the monitor reads");
}

#[test]
fn a_failing_status_page_loses_no_log_line() {
    let folder = Folder::new();
    append(&folder, "");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut nginx = monitor(Some(format!("http://{address}/")), Some(folder.path().join("access.log")));
    let server = std::thread::spawn(move || answer_once(listener));
    nginx.look(second(1)).unwrap();
    server.join().unwrap();
    append(&folder, "request_time=0.5\n");
    let found = trouble(&mut nginx, second(2));
    assert!(found.starts_with(&format!("cannot connect to `{address}`")), "{found}");
    let listener = TcpListener::bind(address).unwrap();
    let server = std::thread::spawn(move || answer_once(listener));
    let found = nginx.look(second(3)).unwrap();
    server.join().unwrap();
    assert_eq!((value(&found, "", "logged_requests"), value(&found, "", "request_time_max")), (0.5, 0.5));
    assert_eq!(value(&found, "", "requests"), 0.0);
}

fn append(folder: &Folder, text: &str) {
    let mut log =
        OpenOptions::new().append(true).create(true).open(folder.path().join("access.log")).unwrap();
    log.write_all(text.as_bytes()).unwrap();
}

/// Returns what a monitor sees of lines that are written after its first sample.
fn parse_lines(lines: &str) -> plimsoll_control::monitor::Found {
    let folder = Folder::new();
    append(&folder, "request_time=99 status=500\n");
    let mut nginx = monitor(None, Some(folder.path().join("access.log")));
    nginx.look(second(1)).unwrap();
    append(&folder, lines);
    nginx.look(second(2)).unwrap()
}

#[test]
fn each_way_to_name_a_value_is_parsed() {
    for line in [
        "1.2.3.4 \"GET / HTTP/1.1\" status=404 request_time=0.012 upstream_response_time=0.010",
        "rt request_time=\"0.012\" urt upstream_response_time=\"0.004, 0.006\" status=\"404\" x",
        "upstream_response_time=0.004 : 0.006 upstream_status=200 request_time=0.012 status=404",
        "status=404 upstream_status=500 request_time=0.012 my_request_time=8 upstream_response_time=0.010",
        "upstream_response_time=-, 0.010 request_time=0.012 status=404",
        r#"{"time":"x","request_time":0.012,"upstream_response_time":"0.010","status":404}"#,
        r#"{ "status": "404", "request_time": "0.012", "upstream_response_time": "0.004, 0.006" }"#,
        r#"{"upstream_response_time":0.010,"request_time":0.012,"upstream_status":500,"status":404}"#,
        "time:x\treqtime:0.012\tapptime:0.010\tstatus:404",
        // A client may send text that looks like a value.
        "\"GET /?request_time=7&status=500 HTTP/1.1\" request_time=0.012 status=404 upstream_response_time=0.010",
    ] {
        let found = parse_lines(&format!("{line}\n"));
        for (metric, expected) in
            [("request_time_mean", 0.012), ("upstream_response_time_mean", 0.010), ("status_4xx", 1.0)]
        {
            let value = value(&found, "", metric);
            assert!((value - expected).abs() < 1e-12, "{metric} of {line}: {value}");
        }
    }
    // An upstream that was not used has no time; its time is not 0.
    let found = parse_lines("request_time=0.001 upstream_response_time=- status=200\n");
    assert!(reading(&found, "", "upstream_response_time_mean").is_none());
}

#[test]
fn percentiles_are_logged_values() {
    let mut lines: Vec<String> = (1..=100).map(|n| format!("request_time=0.{n:03} status=200\n")).collect();
    lines.reverse();
    let found = parse_lines(&lines.concat());
    for (metric, expected) in [("mean", 0.0505), ("p50", 0.05), ("p95", 0.095), ("p99", 0.099), ("max", 0.1)]
    {
        let value = value(&found, "", &format!("request_time_{metric}"));
        assert!((value - expected).abs() < 1e-12, "{metric}: {value}");
    }
    assert_eq!(value(&found, "", "logged_requests"), 100.0);
}

#[test]
fn a_format_without_names_is_not_guessed() {
    let found = parse_lines("1.2.3.4 - - [x] \"GET / HTTP/1.1\" 200 4 0.012 0.010\n");
    assert_eq!(value(&found, "", "logged_requests"), 1.0);
    assert!(
        reading(&found, "", "request_time_mean").is_none() && reading(&found, "", "status_5xx").is_none()
    );
    assert!(fact(&found, "access log").unwrap().contains("request_time="), "{found:?}");
    // A second without requests has a rate but no times.
    let found = parse_lines("");
    assert_eq!(value(&found, "", "logged_requests"), 0.0);
    assert!(fact(&found, "access log").is_none());
}

#[test]
fn a_partial_line_waits_for_its_end_and_a_truncated_file_is_read_from_its_start() {
    let folder = Folder::new();
    append(&folder, "old\n");
    let path = folder.path().join("access.log");
    let mut nginx = monitor(None, Some(path.clone()));
    nginx.look(second(1)).unwrap();
    append(&folder, "request_time=0.1 status=200\nrequest_time=0.");
    assert_eq!(value(&nginx.look(second(2)).unwrap(), "", "logged_requests"), 1.0);
    append(&folder, "3 status=200\n");
    assert_eq!(value(&nginx.look(second(3)).unwrap(), "", "request_time_max"), 0.3);
    std::fs::write(&path, "request_time=0.4\n").unwrap();
    assert_eq!(value(&nginx.look(second(4)).unwrap(), "", "request_time_max"), 0.4);
    // Renamed, and without a new file: the server still writes to the old one.
    std::fs::rename(&path, folder.path().join("access.log.1")).unwrap();
    let mut old = OpenOptions::new().append(true).open(folder.path().join("access.log.1")).unwrap();
    old.write_all(b"request_time=0.5\n").unwrap();
    assert_eq!(value(&nginx.look(second(5)).unwrap(), "", "request_time_max"), 0.5);
    old.write_all(b"request_time=0.6\n").unwrap();
    append(&folder, "request_time=0.2\n");
    let found = nginx.look(second(6)).unwrap();
    assert_eq!((value(&found, "", "logged_requests"), value(&found, "", "request_time_max")), (2.0, 0.6));
}

#[test]
fn a_log_that_appears_later_is_read_from_its_first_line() {
    let folder = Folder::new();
    let path = folder.path().join("access.log");
    let mut nginx = monitor(None, Some(path.clone()));
    let found = trouble(&mut nginx, second(1));
    assert!(found.starts_with(&format!("cannot read the access log `{}`: ", path.display())), "{found}");
    append(&folder, "request_time=0.1\n");
    assert_eq!(value(&nginx.look(second(2)).unwrap(), "", "request_time_max"), 0.1);
    append(&folder, "request_time=0.2\n");
    assert_eq!(value(&nginx.look(second(3)).unwrap(), "", "logged_requests"), 1.0);
}

#[test]
fn a_log_that_grows_too_fast_is_sampled_and_reported() {
    // 8 MB in lines of 32 bytes: the older half is slow.
    let line = |time: &str| format!("request_time={time:<18}\n");
    let text = line("9").repeat(1 << 17) + &line("1").repeat(1 << 17);
    let found = parse_lines(&text);
    assert_eq!(value(&found, "", "request_time_max"), 1.0, "the newest part is read");
    let rate = value(&found, "", "logged_requests");
    assert!((rate / f64::from(1 << 18) - 1.0).abs() < 0.001, "{rate}");
    assert!(fact(&found, "access log").unwrap().contains("a sample"));
}

#[test]
fn a_page_without_status_is_rejected_and_a_hanging_server_costs_one_sample() {
    let server = Server::start();
    let mut other = monitor(Some(format!("http://127.0.0.1:{}/", server.port)), None);
    let found = trouble(&mut other, second(1));
    assert_eq!(found, format!("cannot read `http://127.0.0.1:{}`: not a `stub_status` page", server.port));
    let mut bad = monitor(Some(format!("http://127.0.0.1:{}/bad", server.port)), None);
    assert!(trouble(&mut bad, second(1)).ends_with(": status 503"));
    let tls = format!("https://127.0.0.1:{}/", server.port);
    let found = trouble(&mut monitor(Some(tls), None), second(1));
    assert!(found.ends_with("the server did not respond with TLS"), "{found}");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let mut hangs = monitor(Some(format!("http://{address}/status")), None);
    let begin = Instant::now();
    let found = trouble(&mut hangs, second(1));
    assert!(begin.elapsed() < PATIENCE + Duration::from_millis(300), "{:?}", begin.elapsed());
    assert!(found.starts_with(&format!("cannot read `http://{address}`: ")), "{found}");
}
