//! `streams`: user memory per open event stream with accounting (opened, events, gaps, lost ones), from 10 to
//! 10,000 streams; the maximum number of one process; and the same over TLS. The ruler counts streams and events, and
//! plimsoll's record must agree with it.

use super::nginx::Nginx;
use super::options::Options;
use super::report::Report;
use super::target::remove_run_files;
use super::testserver::Ruler;
use super::tools::{OWN, Roster, experiment_file, run_file};
use super::{Context, child, maths, own};
use chore::Outcome;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const OPEN_WITHIN: Duration = Duration::from_secs(40);
const END_WITHIN: Duration = Duration::from_secs(30);
/// Memory hardly varies, so more rounds than this are pointless.
const ROUNDS: usize = 3;
/// File descriptors that a process needs in addition to those of its streams.
const DESCRIPTORS: u64 = 300;

/// Sizes and times of this bench.
struct Size {
    few: u64,
    many: u64,
    /// As many as a common limit of 20,000 file descriptors allows on either side.
    most: u64,
    /// The proxy in front of the ruler needs two file descriptors for each.
    many_tls: u64,
    query: &'static str,
    settle: Duration,
}

const FULL: Size = Size {
    few: 10,
    many: 10_000,
    most: 19_000,
    many_tls: 5_000,
    query: "every=2s&first=500ms",
    // Two or three events on every stream.
    settle: Duration::from_secs(5),
};
const SMOKE: Size = Size {
    few: 10,
    many: 200,
    most: 500,
    many_tls: 200,
    query: "every=300ms&first=100ms",
    settle: Duration::from_millis(700),
};

/// Kinds of user memory, KiB: the name, and the field in the file of the process.
const KINDS: [(&str, &str); 3] = [("RSS", "Rss:"), ("Pss", "Pss:"), ("private and dirty", "Private_Dirty:")];

/// Opens, measures, and ends one size.
#[derive(Debug)]
struct Held {
    streams: u64,
    kib: [f64; 3],
    events: u64,
}

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    if roster.own().is_none() {
        report.note("streams: only plimsoll takes part, and it was left out");
        return Ok(());
    }
    let size = if context.smoke { SMOKE } else { FULL };
    let rounds = options.rounds.min(ROUNDS);
    let mut text = format!(
        "{rounds} rounds; KiB per stream: the difference to {} streams, over the difference in streams.\n\n\
         | generator | link | held | RSS MiB | KiB per stream: RSS | Pss | private and dirty | events |\n\
         |---|---|---|---|---|---|---|---|\n",
        size.few
    );
    for (name, program) in roster.states() {
        match one(name, program, rounds, &size, context, report) {
            Ok(rows) => text.push_str(&rows),
            Err(sentence) if name != OWN => report.note(&format!("streams: {name}: {sentence}")),
            Err(sentence) => return Err(sentence),
        }
    }
    let shown = format!("{OWN} run {{file}} --quiet --out {{out}}");
    report.section("streams", "accounted event streams, held by one process", &[shown], &text);
    Ok(())
}

/// The rows of one generator.
fn one(
    name: &'static str,
    program: &Path,
    rounds: usize,
    size: &Size,
    context: &Context,
    report: &mut Report,
) -> Result<String, String> {
    let mut text = String::new();
    for (link, tls, many) in [("plain", false, size.many), ("TLS 1.3", true, size.many_tls)] {
        let mut slopes = [Vec::new(), Vec::new(), Vec::new()];
        let mut last = None;
        for round in 1..=rounds {
            let few = hold(program, size.few, tls, size, context)?;
            let held = hold(program, many, tls, size, context)?;
            let more = (held.streams - few.streams) as f64;
            for (slopes, (large, small)) in slopes.iter_mut().zip(held.kib.iter().zip(few.kib)) {
                slopes.push((large - small) / more);
            }
            keep(name, round, link, &few, report);
            keep(name, round, link, &held, report);
            last = Some(held);
        }
        let middle = slopes.each_ref().map(|slopes| maths::median(slopes).unwrap_or(f64::NAN));
        if name == OWN {
            let measure = if tls { "streams.kib_per_tls_stream" } else { "streams.kib_per_stream" };
            report.measure(measure, Some(middle[0]));
        }
        if let Some(held) = last {
            let [rss, pss, dirty] = middle;
            text.push_str(&format!(
                "| {name} | {link} | {} | {:.1} | {rss:.2} | {pss:.2} | {dirty:.2} | {} |\n",
                held.streams,
                held.kib[0] / 1024.0,
                held.events
            ));
        }
    }
    if name == OWN {
        most_streams(program, size, context, report, &mut text)?;
    }
    Ok(text)
}

/// As many as one process and one server support with the usual limit.
fn most_streams(
    program: &Path,
    size: &Size,
    context: &Context,
    report: &mut Report,
    text: &mut String,
) -> Outcome {
    let (limit, _) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|e| format!("cannot read the limit on open files: {e}"))?;
    if limit < size.most + DESCRIPTORS {
        report.note(&format!("streams: {} were not tried, the limit on open files is {limit}", size.most));
        return Ok(());
    }
    let held = match hold(program, size.most, false, size, context) {
        Ok(held) => held,
        // The rest of a long run is kept: the goal is shown as not measured, with the reason.
        Err(sentence) if !context.smoke => {
            report.note(&format!("streams: {} at once: {sentence}", size.most));
            return Ok(());
        }
        Err(sentence) => return Err(sentence),
    };
    keep(OWN, 1, "plain", &held, report);
    report.measure("streams.held", Some(held.streams as f64));
    let mib = held.kib[0] / 1024.0;
    text.push_str(&format!(
        "| {OWN} | plain | {} | {mib:.1} | - | - | - | {} |\n",
        held.streams, held.events
    ));
    Ok(())
}

fn keep(name: &'static str, round: usize, link: &str, held: &Held, report: &mut Report) {
    println!(
        "round {round:2}  {name:10} {link:8} {:6} held  {:8.0} KiB  {} events",
        held.streams, held.kib[0], held.events
    );
    for ((kind, _), kib) in KINDS.iter().zip(held.kib) {
        report.raw("streams", round, name, &format!("{link} {kind} at {}", held.streams), kib, "KiB");
    }
    report.raw(
        "streams",
        round,
        name,
        &format!("{link} events at {}", held.streams),
        held.events as f64,
        "1",
    );
}

/// Opens this many streams to a new server, reads the memory, ends by an interrupt, and compares the accounts.
fn hold(program: &Path, wanted: u64, tls: bool, size: &Size, context: &Context) -> Result<Held, String> {
    let ruler = Ruler::start(program, context)?;
    let proxy = if tls { Some(Nginx::start(context, Some(ruler.port))?) } else { None };
    let (target, trust) = match &proxy {
        Some(nginx) => (nginx.url(""), format!("tls: {{ ca: {} }}\n", nginx.authority().display())),
        None => (format!("http://127.0.0.1:{}", ruler.port), String::new()),
    };
    let file = experiment_file(&context.folder);
    let text = format!(
        "name: bench streams\ntarget: {target}\n{trust}timeout: 30s\nscenarios:\n  hold:\n    \
         - get: \"/events?{}\"\n      stream: true\nload: {{ users: {wanted}, duration: 120s }}\n",
        size.query
    );
    std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    let out = run_file(&context.folder);
    remove_run_files(&context.folder)?;
    let words = ["run", &file.display().to_string(), "--quiet", "--out", &out.display().to_string()];
    let mut generator = child::spawn(context, 0, program, &words.map(String::from), "streams")?;
    let result = watch(&mut generator, &ruler, wanted, size.settle);
    let ended = end(&mut generator);
    let failed = |sentence: String| format!("{sentence}\n{}", child::last_words(context, "streams"));
    let held = result.map_err(failed)?;
    ended.map_err(failed)?;
    let said = own::report(program, &context.folder)?;
    agrees(&said, &held, ruler.counter("events_sent")?)?;
    Ok(held)
}

fn watch(generator: &mut Child, ruler: &Ruler, wanted: u64, settle: Duration) -> Result<Held, String> {
    let deadline = Instant::now() + OPEN_WITHIN;
    let gone = |generator: &mut Child| match generator.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => Err(format!("ended by itself while holding streams ({status})")),
        Err(e) => Err(format!("cannot be watched: {e}")),
    };
    while ruler.counter("streams_open")? < wanted {
        gone(generator)?;
        if Instant::now() > deadline {
            let [open, accepted, here] = ["streams_open", "accepted", "open"].map(|name| ruler.counter(name));
            return Err(format!(
                "{} of {wanted} streams were open after {} s; the ruler accepted {} connections and holds {}",
                open?,
                OPEN_WITHIN.as_secs(),
                accepted?,
                here?
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(settle);
    gone(generator)?;
    let events = ruler.counter("events_sent")?;
    let streams = ruler.counter("streams_open")?;
    let file = format!("/proc/{}/smaps_rollup", generator.id());
    let text = std::fs::read_to_string(&file).map_err(|e| format!("cannot read its memory: {e}"))?;
    let kib = memory_kib(&text).ok_or("its memory map makes no sense")?;
    Ok(Held { streams, kib, events })
}

/// Ends the run by an interrupt, as a person would, so that its record is complete.
fn end(generator: &mut Child) -> Outcome {
    let pid = Pid::from_raw(generator.id().cast_signed());
    let deadline = Instant::now() + END_WITHIN;
    // It may already be gone, as `watch` has reported.
    let interrupted = kill(pid, Signal::SIGINT);
    loop {
        match generator.try_wait().map_err(|e| format!("cannot wait for the generator: {e}"))? {
            Some(_) => return interrupted.map_err(|e| format!("cannot interrupt the generator: {e}")),
            None if Instant::now() > deadline => {
                child::kill(generator)?;
                generator.wait().map_err(|e| format!("cannot wait for the generator: {e}"))?;
                return Err(format!("did not end within {} s of an interrupt", END_WITHIN.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Checks that every stream is still open at the end, that none failed, and that the number of events is between that
/// of the ruler when the memory was read and that at the end.
fn agrees(said: &Value, held: &Held, sent_in_the_end: u64) -> Outcome {
    let number = |name: &str| own::number(said, &format!("/streams/0/{name}"));
    let (open, failed, events) = (number("open_at_end")?, number("failures")?, number("events")?);
    let right = open == held.streams as f64
        && failed == 0.0
        && (held.events as f64..=sent_in_the_end as f64).contains(&events);
    if right {
        return Ok(());
    }
    Err(format!(
        "plimsoll's record has {open} streams open at the end, {failed} failed, {events} events; the ruler had {}, and \
         sent {} to {sent_in_the_end} events",
        held.streams, held.events
    ))
}

fn memory_kib(rollup: &str) -> Option<[f64; 3]> {
    let field = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some([field(KINDS[0].1)?, field(KINDS[1].1)?, field(KINDS[2].1)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_memory_rollup_is_parsed() {
        let text = "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:  900 kB\nPss:  700 kB\nPss_Dirty:  1 kB\n\
                    Private_Clean:  2 kB\nPrivate_Dirty:  600 kB\n";
        assert_eq!(memory_kib(text), Some([900.0, 700.0, 600.0]));
        assert_eq!(memory_kib(""), None);
    }

    #[test]
    fn a_missing_stream_or_event_is_a_disagreement() {
        let describe = |open: u64, events: u64| {
            let row = serde_json::json!({"open_at_end": open, "failures": 0, "events": events});
            serde_json::json!({"streams": [row]})
        };
        let held = Held { streams: 10, kib: [0.0; 3], events: 30 };
        assert!(agrees(&describe(10, 30), &held, 40).is_ok() && agrees(&describe(10, 40), &held, 40).is_ok());
        assert!(agrees(&describe(9, 30), &held, 40).is_err());
        assert!(agrees(&describe(10, 29), &held, 40).is_err());
        assert!(agrees(&describe(10, 41), &held, 40).is_err());
        assert!(agrees(&Value::Null, &held, 40).unwrap_err().contains("open_at_end"));
    }
}
