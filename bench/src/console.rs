//! `console`: the cost of viewers. The CPU-seconds of the console's whole process, compared with the load generator's,
//! by the kernel's count, while two browsers (plain sockets here) follow a run that uses about one core.

use super::child::Owned;
use super::options::Options;
use super::report::Report;
use super::target::{RawServer, process_cpu_s, remove_if_there};
use super::tools::Roster;
use super::{CONNECTIONS, Context, maths};
use chore::Outcome;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WATCHERS: usize = 2;
/// Rows, one per second, over which the CPU of both is compared.
const ROWS: usize = 20;
const ROWS_SMOKE: usize = 2;
const PATIENCE: Duration = Duration::from_secs(20);

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let Some(own) = roster.own() else { return Ok(()) };
    let (rounds, rows) = if context.smoke { (1, ROWS_SMOKE) } else { (options.rounds.min(3), ROWS) };
    let mut text = format!(
        "{rounds} rounds of {rows} s, {WATCHERS} watchers.\n\n\
         | console CPU s | generator CPU s | share |\n|---|---|---|\n"
    );
    let mut shares = Vec::new();
    for round in 1..=rounds {
        let (console_s, generator_s) = one(own, context, rows)?;
        let percent = console_s / generator_s * 100.0;
        println!("round {round:2}  console {console_s:6.2} s  generator {generator_s:6.2} s  {percent:5.2}%");
        report.raw("console", round, "console", "cpu", console_s, "s");
        report.raw("console", round, "plimsoll", "cpu", generator_s, "s");
        text.push_str(&format!("| {console_s:.2} | {generator_s:.2} | {percent:.2}% |\n"));
        shares.push(percent);
    }
    report.measure("console.cpu_percent", maths::median(&shares));
    let shown = ["plimsoll serve --listen 127.0.0.1:0".to_owned()];
    report.section(
        "console",
        "CPU of the console with two viewers, compared with the generator's",
        &shown,
        &text,
    );
    Ok(())
}

/// CPU of console and load generator over the same period, s.
fn one(own: &Path, context: &Context, rows: usize) -> Result<(f64, f64), String> {
    let server = RawServer::start(context, false)?;
    let runs = context.folder.join("console/plimsoll/runs");
    std::fs::create_dir_all(&runs).map_err(|e| format!("cannot make `{}`: {e}", runs.display()))?;
    let file = runs.join("watched.plim");
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.clone().into_os_string();
        name.push(suffix);
        remove_if_there(Path::new(&name))?;
    }
    let mut console = Owned::start(
        Command::new(own)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("XDG_STATE_HOME", context.folder.join("console"))
            .stdout(Stdio::piped()),
    )?;
    let (address, token) = printed(&mut console.0)?;
    let entered = ask(&address, &format!("/?token={token}"), "")?;
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).ok_or("the console sent no cookie")?;
    let generator = Owned::start(
        Command::new(own)
            .args([
                server.url("/"),
                format!("-c{CONNECTIONS}"),
                "-t1".into(),
                format!("-d{}s", rows + 6),
                "-q".into(),
            ])
            .arg("-o")
            .arg(&file),
    )?;
    let id = until(|| {
        let list = ask(&address, "/api/runs", cookie).ok()?;
        let at = list.find("\"id\":\"")? + 6;
        list.get(at..at + 16).map(str::to_owned)
    })?;
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS {
        let mut stream = connect(&address)?;
        let sent =
            write!(stream, "GET /api/live/{id} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n");
        sent.map_err(|e| format!("the console does not read: {e}"))?;
        watchers.push(BufReader::new(stream));
    }
    // The first rows cover connecting, so the period starts after them.
    let cpu = || (process_cpu_s(console.0.id()), process_cpu_s(generator.0.id()));
    watchers.iter_mut().try_for_each(|watcher| read_rows(watcher, 1))?;
    let before = cpu();
    watchers.iter_mut().try_for_each(|watcher| read_rows(watcher, rows))?;
    let after = cpu();
    let spent = (after.0 - before.0, after.1 - before.1);
    if spent.1 > 0.0 { Ok(spent) } else { Err("the generator used no CPU: it generated no load".into()) }
}

fn printed(console: &mut Child) -> Result<(String, String), String> {
    let mut line = String::new();
    let stdout = console.stdout.take().ok_or("the console has no stdout")?;
    BufReader::new(stdout).read_line(&mut line).map_err(|e| format!("the console printed nothing: {e}"))?;
    let rest = line.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/?token="));
    let (address, token) = rest.ok_or_else(|| format!("the console printed `{}`", line.trim()))?;
    Ok((address.to_owned(), token.to_owned()))
}

fn connect(address: &str) -> Result<TcpStream, String> {
    let failed = |e: std::io::Error| format!("the console does not respond: {e}");
    let stream = TcpStream::connect(address).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    Ok(stream)
}

fn ask(address: &str, path: &str, cookie: &str) -> Result<String, String> {
    let mut stream = connect(address)?;
    let mut answer = Vec::new();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n")
        .and_then(|()| stream.read_to_end(&mut answer))
        .map_err(|e| format!("the console does not respond: {e}"))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn until(look: impl Fn() -> Option<String>) -> Result<String, String> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(found) = look() {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err("the run did not appear in the list".into())
}

fn read_rows(watcher: &mut BufReader<TcpStream>, rows: usize) -> Outcome {
    let mut seen = 0;
    while seen < rows {
        let mut line = String::new();
        let n = watcher.read_line(&mut line).map_err(|e| format!("the live view stopped: {e}"))?;
        if n == 0 {
            return Err(format!("the live view ended after {seen} rows"));
        }
        seen += usize::from(line.trim() == "event: row");
    }
    Ok(())
}
