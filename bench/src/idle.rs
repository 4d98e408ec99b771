//! `idle`: user memory per held connection. The tool opens N endless streams; when the server counts them and some time
//! has passed, resident memory is read. Two sizes give the slope, so that what a tool costs anyway cancels out.

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

/// One size, held.
struct Held {
    connections: u64,
    rss_kib: u64,
}

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    // An event every 5 s goes over each stream: 8 s let each have had one.
    let (sizes, settle) = if context.smoke { ([100, 400], 0.3) } else { ([1_000, 10_000], 8.0) };
    let rounds = options.rounds.min(ROUNDS);
    let mut tools = roster.idle();
    let mut text = format!(
        "{rounds} rounds, sizes {sizes:?}.\n\n| generator | held | RSS MiB | KiB per connection (slope) |\n"
    );
    text.push_str("|---|---|---|---|\n");
    let mut kept = Vec::new();
    for tool in tools.drain(..) {
        match slopes(&tool, sizes, settle, rounds, context, report) {
            Ok((slopes, last)) => {
                let slope = maths::median(&slopes);
                let shown = slope.map_or("-".into(), |kib| format!("{kib:.2}"));
                let mib = last.rss_kib as f64 / 1024.0;
                text.push_str(&format!("| {} | {} | {mib:.1} | {shown} |\n", tool.name, last.connections));
                if tool.name == OWN {
                    report.measure("idle.kib_per_connection", slope);
                }
                kept.push(tool.describe());
            }
            Err(sentence) if !tool.own() && !context.smoke => report.note(&sentence),
            Err(sentence) => return Err(sentence),
        }
    }
    report.section("idle", "endless event streams, held", &kept, &text);
    Ok(())
}

fn slopes(
    tool: &Tool,
    sizes: [u32; 2],
    settle_s: f64,
    rounds: usize,
    context: &Context,
    report: &mut Report,
) -> Result<(Vec<f64>, Held), String> {
    let mut slopes = Vec::new();
    let mut last = Held { connections: 0, rss_kib: 0 };
    for round in 1..=rounds {
        let small = hold(tool, sizes[0], settle_s, context)?;
        let large = hold(tool, sizes[1], settle_s, context)?;
        for held in [&small, &large] {
            println!("round {round:2}  {:14} {:6} held  {:8} KiB", tool.name, held.connections, held.rss_kib);
            report.raw(
                "idle",
                round,
                tool.name,
                &format!("rss at {}", held.connections),
                held.rss_kib as f64,
                "KiB",
            );
        }
        if large.connections > small.connections {
            let more = (large.connections - small.connections) as f64;
            slopes.push((large.rss_kib as f64 - small.rss_kib as f64) / more);
        }
        last = large;
    }
    Ok((slopes, last))
}

/// Holds `connections` streams with a fresh server, and reads the tool's memory.
fn hold(tool: &Tool, connections: u32, settle_s: f64, context: &Context) -> Result<Held, String> {
    remove_run_files(&context.folder)?;
    let server = RawServer::start(context, false)?;
    let url = server.url("/s");
    let values =
        Values { url: &url, connections, secs: 120, rate_per_s: RATE_PER_S, folder: &context.folder };
    let log = format!("idle-{}", tool.name);
    let mut generator = child::spawn(context, 0, &tool.program, &tool.arguments(&values), &log)?;
    let result = watch(&mut generator, &server, connections, settle_s);
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
    settle_s: f64,
) -> Result<Held, String> {
    let deadline = Instant::now() + OPEN_WITHIN;
    let gone = |generator: &mut std::process::Child| match generator.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => Err(format!("ended by itself while holding connections ({status})")),
        Err(e) => Err(format!("cannot be watched: {e}")),
    };
    while server.counters()?.open < u64::from(wanted) && Instant::now() < deadline {
        gone(generator)?;
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs_f64(settle_s));
    gone(generator)?;
    let connections = server.counters()?.open;
    if connections == 0 {
        return Err("holds no connection".into());
    }
    Ok(Held { connections, rss_kib: child::memory_kib(generator.id(), "VmRSS:") })
}
