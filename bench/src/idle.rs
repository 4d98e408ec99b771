//! `idle` and `http2-held`: user memory per held connection. The tool opens N connections with endless responses; when
//! the server counts them and some time has passed, resident memory is read. Two sizes give the slope, so that what a
//! tool costs anyway cancels out.

use super::options::Options;
use super::report::Report;
use super::target::{RawServer, Target, remove_run_files};
use super::tools::{OWN, Roster, Tool, Values};
use super::{Context, RATE_PER_S, child, maths};
use chore::Outcome;
use std::time::{Duration, Instant};

/// Connections to open within this time, or as many as there are by then.
const OPEN_WITHIN: Duration = Duration::from_secs(40);
/// Settling takes most of the time and memory hardly varies: more rounds than this tell nothing new.
const ROUNDS: usize = 3;

/// What is held.
struct Setting {
    bench: &'static str,
    /// Arguments of the target.
    target: &'static [&'static str],
    path: &'static str,
    /// Endless responses on each connection.
    streams: u32,
    /// Connections of both sizes.
    sizes: [u32; 2],
    settle_s: f64,
}

/// One size, held.
struct Held {
    connections: u64,
    rss_kib: u64,
}

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    // An event every 5 s goes over each stream: 8 s let each have had one.
    let (sizes, settle_s) = if context.smoke { ([100, 400], 0.3) } else { ([1_000, 10_000], 8.0) };
    let setting = Setting { bench: "idle", target: &[], path: "/s", streams: 1, sizes, settle_s };
    let kib = table(&setting, roster.idle(), "endless event streams, held", context, options, report)?;
    report.measure("idle.kib_per_connection", kib);
    Ok(())
}

/// The same over HTTP/2, with one and with ten streams on each connection, which have had the heads of their responses.
pub fn http2(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    for (streams, what, measure) in [
        (1, "connections of HTTP/2 with one endless response each, held", "http2-held.bytes_with_1"),
        (10, "connections of HTTP/2 with ten endless responses each, held", "http2-held.bytes_with_10"),
    ] {
        let (sizes, settle_s) = if context.smoke { ([50, 200], 0.3) } else { ([1_000, 5_000], 3.0) };
        let (bench, target, path) = ("http2-held", &["-m", "hold"], "/");
        let setting = Setting { bench, target, path, streams, sizes, settle_s };
        let kib = table(&setting, roster.http2_held(), what, context, options, report)?;
        report.measure(measure, kib.map(|kib| 1024.0 * kib));
    }
    Ok(())
}

/// The same with a script whose users wait in a call for the response.
pub fn script(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let (sizes, settle_s) = if context.smoke { ([100, 400], 0.3) } else { ([1_000, 10_000], 8.0) };
    let setting = Setting { bench: "script-held", target: &[], path: "/s", streams: 1, sizes, settle_s };
    let what = "users of a script, each waiting for an endless response";
    let kib = table(&setting, roster.script_held(), what, context, options, report)?;
    report.measure("script-held.kib_per_user", kib);
    Ok(())
}

/// Measures all tools, and returns plimsoll's KiB per connection.
fn table(
    setting: &Setting,
    tools: Vec<Tool>,
    what: &str,
    context: &Context,
    options: &Options,
    report: &mut Report,
) -> Result<Option<f64>, String> {
    let rounds = options.rounds.min(ROUNDS);
    let mut text = format!(
        "{rounds} rounds, sizes {:?}.\n\n| generator | held | RSS MiB | KiB per connection (slope) |\n",
        setting.sizes
    );
    text.push_str("|---|---|---|---|\n");
    let (mut kept, mut own) = (Vec::new(), None);
    for tool in tools {
        match slopes(&tool, setting, rounds, context, report) {
            Ok((slopes, last)) => {
                let slope = maths::median(&slopes);
                let shown = slope.map_or("-".into(), |kib| format!("{kib:.2}"));
                let mib = last.rss_kib as f64 / 1024.0;
                text.push_str(&format!("| {} | {} | {mib:.1} | {shown} |\n", tool.name, last.connections));
                if tool.name == OWN {
                    own = slope;
                }
                kept.push(tool.describe());
            }
            Err(sentence) if !tool.own() && !context.smoke => report.note(&sentence),
            Err(sentence) => return Err(sentence),
        }
    }
    report.section(setting.bench, what, &kept, &text);
    Ok(own)
}

fn slopes(
    tool: &Tool,
    setting: &Setting,
    rounds: usize,
    context: &Context,
    report: &mut Report,
) -> Result<(Vec<f64>, Held), String> {
    let mut slopes = Vec::new();
    let mut last = Held { connections: 0, rss_kib: 0 };
    for round in 1..=rounds {
        let small = hold(tool, setting, setting.sizes[0], context)?;
        let large = hold(tool, setting, setting.sizes[1], context)?;
        for held in [&small, &large] {
            println!("round {round:2}  {:14} {:6} held  {:8} KiB", tool.name, held.connections, held.rss_kib);
            let measure = match setting.streams {
                1 => format!("rss at {}", held.connections),
                streams => format!("rss at {} x {streams}", held.connections),
            };
            report.raw(setting.bench, round, tool.name, &measure, held.rss_kib as f64, "KiB");
        }
        if large.connections > small.connections {
            let more = (large.connections - small.connections) as f64;
            slopes.push((large.rss_kib as f64 - small.rss_kib as f64) / more);
        }
        last = large;
    }
    Ok((slopes, last))
}

/// Holds `connections` with a fresh server, and reads the tool's memory.
fn hold(tool: &Tool, setting: &Setting, connections: u32, context: &Context) -> Result<Held, String> {
    remove_run_files(&context.folder)?;
    let server = RawServer::with(context, false, setting.target)?;
    let url = server.url(setting.path);
    let (streams, folder) = (setting.streams, &context.folder);
    let values = Values { url: &url, connections, streams, secs: 120, rate_per_s: RATE_PER_S, folder };
    let log = format!("{}-{}", setting.bench, tool.name);
    let mut generator = child::spawn(context, 0, &tool.program, &tool.arguments(&values), &log)?;
    let result = watch(&mut generator, &server, connections, setting);
    // Already gone is fine: `watch` has said so.
    let killed =
        if generator.try_wait().ok().flatten().is_some() { Ok(()) } else { child::kill(&mut generator) };
    generator.wait().map_err(|e| format!("cannot wait for `{}`: {e}", tool.name))?;
    killed?;
    result.map_err(|sentence| format!("{}: {sentence}\n{}", tool.name, child::last_words(context, &log)))
}

fn watch(
    generator: &mut std::process::Child,
    server: &RawServer,
    wanted: u32,
    setting: &Setting,
) -> Result<Held, String> {
    let deadline = Instant::now() + OPEN_WITHIN;
    let gone = |generator: &mut std::process::Child| match generator.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => Err(format!("ended by itself while holding connections ({status})")),
        Err(e) => Err(format!("cannot be watched: {e}")),
    };
    // Each reading of the counters is a request, too.
    let mut readings = 0;
    let mut is_held = || {
        let counters = server.counters()?;
        let requests = counters.served.saturating_sub(readings);
        readings += 1;
        let all = u64::from(wanted) * u64::from(setting.streams);
        Ok::<_, String>((counters.open, counters.open >= u64::from(wanted) && requests >= all))
    };
    while !is_held()?.1 && Instant::now() < deadline {
        gone(generator)?;
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs_f64(setting.settle_s));
    gone(generator)?;
    match is_held()? {
        (0, _) => Err("holds no connection".into()),
        (connections, false) if setting.streams > 1 => {
            Err(format!("holds {connections} connections of {wanted}, or fewer streams on them"))
        }
        (connections, _) => Ok(Held { connections, rss_kib: child::memory_kib(generator.id(), "VmRSS:") }),
    }
}
