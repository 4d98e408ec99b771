//! A busy console: connections that send no request, and files that are never read to their end. A logged-in user still
//! gets responses.

use crate::client::{Console, PATIENCE, with_a_run};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Time limit of a response, even on a busy machine; a blocked request would wait for ten seconds or more.
const MOMENT: Duration = Duration::from_secs(5);
/// Flag of `open(2)` on Linux.
const O_NONBLOCK: i32 = 0o4000;

/// One request on a connection that stays open, and the status of its answer.
fn status_of_login(stream: &mut TcpStream, console: &Console) -> u16 {
    let (address, cookie) = (&console.address, console.cookie());
    write!(stream, "GET /api/state HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n")
        .expect("the connection is open");
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"}") {
        assert_eq!(stream.read(&mut byte).expect("the connection stands"), 1, "it was closed");
        answer.extend(byte);
    }
    String::from_utf8_lossy(&answer).split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
}

#[test]
fn connections_without_a_request_do_not_block_others() {
    let console = Console::start();
    let mut kept = console.connect();
    assert_eq!(status_of_login(&mut kept, &console), 200);
    // More than there are places, some with half a request, and all from the address of the owner.
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..600 {
        let mut stream = console.connect();
        if number % 2 == 0 {
            // It may have been sent away already.
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
        }
        idle.push(stream);
    }
    let begin = Instant::now();
    assert_eq!(console.get("/api/state").status, 200);
    assert_eq!(status_of_login(&mut kept, &console), 200, "who is in stays");
    let (cookie, _) = console.enter();
    assert_eq!(console.send("GET", "/api/state", &[("Cookie", &cookie)], "").status, 200);
    assert!(begin.elapsed() < MOMENT, "{:?}", begin.elapsed());
    let mut rest = Vec::new();
    // Reset, where half a request lay unread.
    let _ = idle[0].read_to_end(&mut rest);
    assert!(begin.elapsed() < MOMENT, "the oldest goes, {:?}", begin.elapsed());
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("`mkfifo` can be started");
    assert!(made.success());
}

/// SQLite checks whether it must roll back the journal of a file. If the journal is a pipe, the check blocks until a
/// process writes to it.
#[test]
fn a_file_that_is_never_read_to_its_end_holds_up_only_itself() {
    let (state, file) = with_a_run();
    let slow = file.with_file_name("slow.plim");
    std::fs::copy(&file, &slow).expect("a copy");
    let journal = file.with_file_name("slow.plim-journal");
    pipe(&journal);
    let console = Console::with(state);
    let begin = Instant::now();
    let listing = console.json("/api/runs");
    assert_eq!(listing["unread_count"], 1, "{listing}");
    let entries = listing["entries"].as_array().expect("a list");
    assert_eq!(entries.len(), 1, "{listing}");
    let id = entries[0]["id"].as_str().expect("an id");
    // No request waits for it a second time, and everything else works.
    for _ in 0..20 {
        assert_eq!(console.json("/api/runs")["entries"].as_array().expect("a list").len(), 1);
    }
    assert_eq!(console.get(&format!("/runs/{id}")).status, 200);
    assert_eq!(console.annotate(id, &serde_json::json!(["kept"]), "").status, 200);
    let listing = console.json("/api/runs?tag=kept");
    assert_eq!(listing["entries"][0]["tags"], serde_json::json!(["kept"]), "{listing}");
    assert!(begin.elapsed() < 2 * MOMENT, "{:?}", begin.elapsed());
    // As soon as each read of the pipe ends, the file is listed and the rest is unchanged. Without a reader, opening
    // the pipe for writing is refused.
    let listing = console.until("/api/runs", |listing| {
        drop(std::fs::File::options().write(true).custom_flags(O_NONBLOCK).open(&journal));
        listing["unread_count"] == 0
    });
    assert!(listing["entries"].to_string().contains("slow.plim"), "{listing}");
    let first = listing["entries"].as_array().expect("a list").iter().find(|entry| entry["id"] == id);
    assert_eq!(first.expect("it is still there")["tags"], serde_json::json!(["kept"]), "{listing}");
    assert!(begin.elapsed() < PATIENCE);
}

/// Threads of the console for work that may wait for a disk.
fn threads_aside(console: &Console) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", console.pid())).expect("it lives").flatten();
    let name = |task: &Path| std::fs::read_to_string(task.join("comm")).unwrap_or_default();
    tasks.filter(|task| name(&task.path()).trim() == "console-aside").count()
}

/// Each of the things that read files, while one file keeps many waiting, of whom some have gone.
#[test]
fn a_page_that_never_comes_holds_up_no_other() {
    let (state, file) = with_a_run();
    let slow = file.with_file_name("slow.plim");
    std::fs::copy(&file, &slow).expect("a copy");
    let console = Console::with(state);
    let listing = console.until("/api/runs", |listing| listing["unread_count"] == 0);
    let id_of = |path: &Path| {
        let all = listing["entries"].as_array().expect("a list").iter();
        let mut own = all.filter(|entry| entry["path"].as_str() == path.to_str());
        own.next().expect("it is listed")["id"].as_str().expect("an id").to_owned()
    };
    let (id, stuck) = (id_of(&file), id_of(&slow));
    pipe(&file.with_file_name("slow.plim-journal"));
    let wants = ["", "/file"].into_iter().cycle().take(24);
    let ask =
        |what| console.request("GET", &format!("/runs/{stuck}{what}"), &[("Cookie", console.cookie())], "");
    let mut waiting: Vec<TcpStream> = wants.map(ask).collect();
    waiting.truncate(12);
    let begin = Instant::now();
    while threads_aside(&console) < 2 {
        assert!(begin.elapsed() < MOMENT, "no thread reads");
    }
    let begin = Instant::now();
    for path in [format!("/runs/{id}"), format!("/runs/{id}/file"), format!("/compare?a={id}&b={id}")] {
        assert_eq!(console.get(&path).status, 200, "{path}");
    }
    assert!(!console.watch(&id).all().is_empty());
    let checked = console.change("POST", "/api/check", &serde_json::json!({ "text": "a: 1" }));
    assert_eq!(checked.json()["is_valid"], false);
    assert_eq!(console.annotate(&id, &serde_json::json!(["kept"]), "").status, 200);
    // One look at the folders takes its two seconds.
    assert!(begin.elapsed() < 2 * MOMENT, "{:?}", begin.elapsed());
    // Two that never end, and those that were needed a moment ago, but not one for each of the 24 that asked.
    assert!(threads_aside(&console) < 24, "{}", threads_aside(&console));
    waiting[0].set_nonblocking(true).expect("a socket");
    assert!(waiting[0].read(&mut [0]).is_err(), "it is still being read");
}

#[test]
fn pipes_and_devices_are_not_runs() {
    let (state, file) = with_a_run();
    pipe(&file.with_file_name("pipe.plim"));
    std::os::unix::fs::symlink("/dev/zero", file.with_file_name("zero.plim")).expect("a link");
    let parts = file.with_file_name("parts");
    std::fs::create_dir_all(parts.join("01-a")).expect("a folder");
    let list = r#"{"version":1,"name":"x","parts":[{"name":"a","folder":"01-a"}]}"#;
    std::fs::write(parts.join("parts.json"), list).expect("a file");
    pipe(&parts.join("01-a").join(plimsoll_experiment::folder::INDEX));
    let console = Console::with(state);
    let listing = console.json("/api/runs");
    assert_eq!(listing["entries"].as_array().expect("a list").len(), 1, "{listing}");
    let told = listing["unreadable"].to_string();
    assert_eq!(told.matches("not a regular file").count(), 2, "{told}");
    assert!(told.contains("zero.plim") && told.contains("leads out"), "{told}");
}
