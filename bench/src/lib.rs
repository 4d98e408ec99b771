//! `cargo xtask bench`: plimsoll compared with other tools on one machine. Rounds are interleaved. The server counts
//! requests, and the kernel counts CPU, so no tool's own report is trusted. Only ratios within a round are compared.

#![forbid(unsafe_code)]
// Chores are for a person at a terminal, so they print.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod agents;
mod child;
mod console;
mod floor;
mod goals;
mod http2;
mod idle;
mod lua;
mod maths;
mod messages;
mod nginx;
mod openloop;
mod options;
mod own;
mod ratio;
mod report;
mod scenarios;
mod scripts;
mod secure;
mod start;
mod streams;
mod target;
mod templates;
mod testplan;
mod testserver;
mod tools;

use chore::{Outcome, shell};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use options::{Bench, Options};
use report::Report;
use std::path::{Path, PathBuf};
use target::Programs;

pub const USAGE: &str = "[--smoke] [--rounds 15] [--secs 4] [plain|large|open|idle|start|scripted|mix|https|\
                         handshakes|streams|console|http2|http2-open|http2-held|websocket|grpc|protocols|\
                         script|script-open|script-held|scripts|jmeter|lua|agents|all] [--peers wrk,ab,...] \
                         [--peers-only] [--note TEXT] [--tool FILE] [--before FILE]";

/// Connections in every bench except `idle` and `streams`.
const CONNECTIONS: u32 = 100;
/// Arrivals per second in `open`.
const RATE_PER_S: u32 = 10_000;

/// The environment of every bench.
pub struct Context {
    /// Scratch directory: compiled targets, logs, run files. It is below `target/`, so nothing in it is committed.
    pub folder: PathBuf,
    pub programs: Programs,
    /// With two or more cores, the generator has core 0 and the target core 1.
    pub pinned: bool,
    pub smoke: bool,
}

pub fn command(arguments: &[String]) -> Outcome {
    let options = Options::parse(arguments)?;
    let root = shell::root();
    let target = shell::target_folder()?;
    let folder = target.join("bench");
    std::fs::create_dir_all(folder.join("log"))
        .map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    raise_open_file_limit()?;
    let own = if options.peers_only { None } else { Some(own(options.tool.as_deref(), &target)?) };
    let before = options.before.as_deref().map(existing).transpose()?;
    let roster = tools::Roster::find(own.as_deref(), before.as_deref(), options.peers.as_deref())?;
    let programs = Programs::compile(&root.join("bench"), &folder)?;
    let pinned = chore::machine::cores() >= 2 && shell::find_program("taskset").is_some();
    let context = Context { folder, programs, pinned, smoke: options.smoke };
    let mut report = Report::new(&options, &roster, &context)?;
    println!("{}", report.head());
    for bench in &options.benches {
        println!("\n== bench {}", bench.name());
        match bench {
            Bench::Plain => ratio::plain(&context, &roster, &options, &mut report)?,
            Bench::Large => ratio::large(&context, &roster, &options, &mut report)?,
            Bench::Open => openloop::run(&context, &roster, &options, &mut report)?,
            Bench::Idle => idle::run(&context, &roster, &options, &mut report)?,
            Bench::Start => start::run(&context, &roster, &options, &mut report)?,
            Bench::Scripted => scenarios::scripted(&context, &roster, &options, &mut report)?,
            Bench::Mix => scenarios::mix(&context, &roster, &options, &mut report)?,
            Bench::Https => secure::https(&context, &roster, &options, &mut report)?,
            Bench::Handshakes => secure::handshakes(&context, &roster, &options, &mut report)?,
            Bench::Streams => streams::run(&context, &roster, &options, &mut report)?,
            Bench::Console => console::run(&context, &roster, &options, &mut report)?,
            Bench::Http2 => http2::run(&context, &roster, &options, &mut report)?,
            Bench::Http2Open => openloop::http2(&context, &roster, &options, &mut report)?,
            Bench::Http2Held => idle::http2(&context, &roster, &options, &mut report)?,
            Bench::WebSocket => messages::websocket(&context, &roster, &options, &mut report)?,
            Bench::Grpc => messages::grpc(&context, &roster, &options, &mut report)?,
            Bench::Script => scripts::run(&context, &roster, &options, &mut report)?,
            Bench::ScriptOpen => openloop::script(&context, &roster, &options, &mut report)?,
            Bench::ScriptHeld => idle::script(&context, &roster, &options, &mut report)?,
            Bench::Jmeter => testplan::run(&context, &roster, &options, &mut report)?,
            Bench::Agents => agents::run(&context, &roster, &options, &mut report)?,
            Bench::Lua => lua::run(&context, &roster, &options, &mut report)?,
        }
    }
    println!("\n{}", report.goals());
    let written =
        if options.smoke { report.write(&context.folder.join("smoke"))? } else { report.write_run(&root)? };
    println!("written: {}", written.strip_prefix(&root).unwrap_or(&written).display());
    Ok(())
}

/// The binary under test: an existing one, or the release build, as a user would get it.
fn own(given: Option<&Path>, target: &Path) -> Result<PathBuf, String> {
    if let Some(file) = given {
        return existing(file);
    }
    shell::run(shell::cargo().args(["build", "--quiet", "--release", "--package", "plimsoll"]))?;
    let file = target.join("release/plimsoll");
    if file.is_file() { Ok(file) } else { Err(format!("the build left no `{}`", file.display())) }
}

fn existing(file: &Path) -> Result<PathBuf, String> {
    let absolute = std::path::absolute(file).ok().filter(|file| file.is_file());
    absolute.ok_or_else(|| format!("there is no `{}`", file.display()))
}

/// Raises the soft limit on file descriptors to the hard one, here and so in every child: wrk does not raise its own,
/// and a tool that runs out of file descriptors would be measured wrong.
fn raise_open_file_limit() -> Outcome {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|e| format!("cannot read the limit on open files: {e}"))?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
        .map_err(|e| format!("cannot raise the limit on open files: {e}"))
}
