//! `start`: the time to the first send, in milliseconds from starting the process to the first byte that reaches a
//! server, which is a listener in this process that stamps it.

use super::options::Options;
use super::report::Report;
use super::target::remove_run_files;
use super::tools::{OWN, Roster, Tool, Values, targets_file};
use super::{CONNECTIONS, Context, RATE_PER_S, child, maths};
use chore::Outcome;
use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const SAMPLES: usize = 20;
const SAMPLES_SMOKE: usize = 3;
const WITHIN: Duration = Duration::from_secs(5);

pub fn run(context: &Context, roster: &Roster, _: &Options, report: &mut Report) -> Outcome {
    let samples = if context.smoke { SAMPLES_SMOKE } else { SAMPLES };
    let mut text = format!("{samples} starts.\n\n| generator | median ms | quartiles |\n|---|---|---|\n");
    let mut shown = Vec::new();
    for tool in roster.plain() {
        let mut values_ms = Vec::new();
        let failure = (1..=samples).find_map(|sample| match one(&tool, context) {
            Ok(ms) => {
                report.raw("start", sample, tool.name, "first byte", ms, "ms");
                values_ms.push(ms);
                None
            }
            Err(sentence) => Some(sentence),
        });
        match failure {
            Some(sentence) if tool.own() || context.smoke => return Err(sentence),
            Some(sentence) => report.note(&sentence),
            None => {
                let at = |q| maths::quantile(&values_ms, q).unwrap_or(f64::NAN);
                println!("{:14} {:6.1} ms", tool.name, at(0.5));
                text.push_str(&format!(
                    "| {} | {:.1} | {:.1}..{:.1} |\n",
                    tool.name,
                    at(0.5),
                    at(0.25),
                    at(0.75)
                ));
                if tool.name == OWN {
                    report.measure("start.median_ms", maths::median(&values_ms));
                }
                shown.push(tool.describe());
            }
        }
    }
    report.section("start", "from the start of the process to the first byte at the server", &shown, &text);
    Ok(())
}

fn one(tool: &Tool, context: &Context) -> Result<f64, String> {
    let cannot = |e: std::io::Error| format!("cannot measure the start of {}: {e}", tool.name);
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let url = format!("http://{address}/");
    std::fs::write(targets_file(&context.folder), format!("GET {url}\n")).map_err(cannot)?;
    let values = Values {
        url: &url,
        connections: CONNECTIONS,
        streams: 1,
        secs: 1,
        rate_per_s: RATE_PER_S,
        folder: &context.folder,
    };
    let (sender, stamps) = channel();
    let acceptor = std::thread::spawn(move || accept(&listener, &sender));
    let mut command = Command::new(&tool.program);
    command.args(tool.arguments(&values)).current_dir(&context.folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    remove_run_files(&context.folder)?;
    let begin = Instant::now();
    let mut generator = command.spawn().map_err(cannot)?;
    let first = first_byte(&stamps);
    let alive = generator.try_wait().map_err(cannot)?.is_none();
    if alive {
        child::kill(&mut generator)?;
    }
    generator.wait().map_err(cannot)?;
    drop(stamps);
    // The acceptor ends with the next connection, which is this one.
    let _wake = std::net::TcpStream::connect(address);
    acceptor.join().map_err(|_| "the acceptor of bench start panicked".to_string())?;
    let first = first.ok_or_else(|| format!("{} sent no byte within {} s", tool.name, WITHIN.as_secs()))?;
    Ok(first.duration_since(begin).as_secs_f64() * 1e3)
}

fn first_byte(stamps: &Receiver<Option<Instant>>) -> Option<Instant> {
    let deadline = Instant::now() + WITHIN;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match stamps.recv_timeout(left) {
            Ok(Some(stamp)) => return Some(stamp),
            Ok(None) => {} // a connection that only checked for a listener
            Err(_) => return None,
        }
    }
}

/// One thread per connection, because a tool may first open one that it never writes to.
fn accept(listener: &TcpListener, sender: &Sender<Option<Instant>>) {
    while let Ok((mut stream, _)) = listener.accept() {
        if sender.send(None).is_err() {
            return;
        }
        let sender = sender.clone();
        std::thread::spawn(move || {
            if matches!(stream.read(&mut [0]), Ok(1)) {
                // After the first byte, the connection is no longer read; that is not a failure.
                let _ = sender.send(Some(Instant::now()));
            }
        });
    }
}
