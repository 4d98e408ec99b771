//! `websocket` and `grpc`: round trips of small messages per generator CPU-second, compared with a client on the
//! library `tungstenite`, with `ghz`, and with a client on the library tonic.

use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::target::{Counters, RawServer, Target, process_cpu_s};
use super::templates::MESSAGE;
use super::testserver::Ruler;
use super::tools::{GHZ_BASE, OWN, Roster, TONIC, TUNGSTENITE, experiment_file, once_file};
use super::{CONNECTIONS, Context, own};
use chore::{Outcome, shell};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The payload, in both clients.
const PAYLOAD: &str = "abcdefghijklmnopqrstuvwxyz012345";
/// Connections and calls in flight on each.
const CALLS: (u32, u32) = (8, 10);
const GHZ: &str = "github.com/bojand/ghz/cmd/ghz@v0.93.0";

pub fn websocket(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let Some(own) = roster.own() else {
        report.note("websocket: the server is a part of plimsoll, which was left out");
        return Ok(());
    };
    let client = client(context)?;
    let echo = Echo(Ruler::start(own, context)?);
    let target = format!("ws://127.0.0.1:{}", echo.0.port);
    let file = |load: &str, times: u64| {
        format!(
            "name: bench of WebSockets\ntarget: {target}\nscenarios:\n  echo:\n    - connect: /websocket\n      \
             name: echo\n    - repeat: {times}\n      steps:\n        - send: {PAYLOAD}\n        \
             - expect: {PAYLOAD}\nload: {{ {load} }}\n"
        )
    };
    let load = format!("users: {CONNECTIONS}, duration: {}s", options.secs);
    save(context, &file(&load, 1_000_000_000), &file("users: 1, iterations: 1", 1))?;
    let url = format!("http://127.0.0.1:{}/websocket", echo.0.port);
    let usual = Field::new("websocket", &echo, &url);
    let field = Field { base: TUNGSTENITE, agrees: messages_agree, ..usual };
    let entries = ratio::measure(&field, roster.websocket(client), context, options, report)?;
    let what =
        "WebSocket, messages of 32 bytes returned by the test server, 100 connections with one in flight";
    ratio::table("websocket", what, None, "", &entries, options, report);
    report.measure("websocket.ratio", ratio::middle_ratio(OWN, &entries));
    Ok(())
}

pub fn grpc(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let mut found = |name: &str, result: Result<PathBuf, String>| {
        result.map_err(|sentence| report.note(&format!("grpc: without `{name}`: {sentence}"))).ok()
    };
    let (ghz, tonic) = (found(GHZ_BASE, ghz(context)), found(TONIC, tonic(context)));
    let server = RawServer::with(context, false, &["-m", "grpc"])?;
    let (connections, streams) = CALLS;
    let schema = shell::root().join("bench/call.proto");
    let file = |load: &str, streams: u32| {
        format!(
            "name: bench of calls\ntarget: {}\ngrpc: {{ protos: {} }}\nconnection: {{ streams: {streams} }}\n\
             scenarios:\n  caller:\n    - grpc: echo.v1.Echo/Send\n      message: {MESSAGE}\n\
             load: {{ {load} }}\n",
            server.url(""),
            schema.display()
        )
    };
    let load = format!("users: {}, duration: {}s", connections * streams, options.secs);
    save(context, &file(&load, streams), &file("users: 1, iterations: 1", 1))?;
    let url = server.url("/");
    let usual = Field::new("grpc", &server, &url);
    let field = Field { base: GHZ_BASE, connections, streams, ..usual };
    let entries = ratio::measure(&field, roster.grpc(ghz, tonic), context, options, report)?;
    let what = "unary gRPC calls with messages of 32 bytes, server that batches, 8 connections x 10 calls";
    ratio::table("grpc", what, None, "", &entries, options, report);
    report.measure("grpc.ratio", ratio::middle_ratio(OWN, &entries));
    report.measure("grpc.tonic", ratio::middle_ratio_to(TONIC, OWN, &entries));
    Ok(())
}

fn save(context: &Context, load: &str, once: &str) -> Outcome {
    for (file, text) in [(experiment_file(&context.folder), load), (once_file(&context.folder), once)] {
        std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    }
    Ok(())
}

/// The test server, which counts messages.
struct Echo(Ruler);

impl Target for Echo {
    fn counters(&self) -> Result<Counters, String> {
        let (served, open) = (self.0.counter("messages_received")?, self.0.counter("open")?);
        Ok(Counters { served, open })
    }

    fn cpu_s(&self) -> f64 {
        process_cpu_s(self.0.pid())
    }

    fn counts_readings(&self) -> bool {
        false
    }
}

/// The server may have received messages whose responses were in flight at the end; each of them was sent.
fn messages_agree(said: &Value, served: u64) -> Outcome {
    let number = |name: &str| own::number(said, &format!("/websockets/0/{name}"));
    let (received, sent) = (number("messages_received")?, number("messages_sent")?);
    let errors = own::number(said, "/totals/errors")?;
    let served = served as f64;
    if errors == 0.0 && received <= served && served <= sent {
        return Ok(());
    }
    Err(format!(
        "plimsoll's record has {received} received and {sent} sent messages with {errors} errors, but the server \
         counted {served}"
    ))
}

/// Builds the client on `tungstenite`, as optimized as the binary that it is compared with.
fn client(context: &Context) -> Result<PathBuf, String> {
    let mut command = shell::cargo();
    command.args(["build", "--quiet", "--package", "bench", "--example", "websocket_echo"]);
    if !context.smoke {
        command.arg("--release");
    }
    shell::run(&mut command)?;
    let profile = if context.smoke { "debug" } else { "release" };
    existing(shell::target_folder()?.join(profile).join("examples/websocket_echo"))
}

/// The one on PATH, or one built with Go below the target folder, once, unless only a smoke test is run.
fn ghz(context: &Context) -> Result<PathBuf, String> {
    if let Some(program) = shell::find_program("ghz") {
        return Ok(program);
    }
    if context.smoke {
        return Err("a smoke test builds no other tool".into());
    }
    let folder = context.folder.parent().unwrap_or(Path::new(".")).join("tools");
    let program = folder.join("ghz");
    if !program.is_file() {
        println!("building {GHZ}");
        let mut command = Command::new("go");
        shell::run(command.args(["install", GHZ]).env("GOBIN", &folder).env("GOFLAGS", "-mod=mod"))?;
    }
    existing(program)
}

/// The client on tonic, built once below the target folder, unless only a smoke test is run.
fn tonic(context: &Context) -> Result<PathBuf, String> {
    if context.smoke {
        return Err("a smoke test builds no other tool".into());
    }
    let folder = shell::target_folder()?.join("tonic");
    let mut command = shell::cargo();
    command.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]);
    command.arg(shell::root().join("bench/tonic/Cargo.toml")).arg("--target-dir").arg(&folder);
    shell::run(&mut command)?;
    existing(folder.join("release/tonic-client"))
}

fn existing(program: PathBuf) -> Result<PathBuf, String> {
    if program.is_file() { Ok(program) } else { Err(format!("there is no `{}`", program.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_messages_lie_between_those_received_and_those_sent() {
        let said = |errors: u64| {
            let row = serde_json::json!({"messages_received": 90, "messages_sent": 100});
            serde_json::json!({"websockets": [row], "totals": {"errors": errors}})
        };
        assert!(messages_agree(&said(0), 90).is_ok() && messages_agree(&said(0), 100).is_ok());
        assert!(messages_agree(&said(0), 101).is_err() && messages_agree(&said(0), 89).is_err());
        assert!(messages_agree(&said(1), 95).is_err());
    }

    #[test]
    fn the_payload_has_the_size_that_is_said() {
        assert_eq!(PAYLOAD.len(), 32);
    }
}
