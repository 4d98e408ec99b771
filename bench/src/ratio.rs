//! Requests per generator CPU-second: `plain` and `large`, and the rounds of other benches that count like that. The
//! order of the tools is reversed from round to round, and the ratio is taken within each round, so that a drift of the
//! machine affects all tools.

use super::options::Options;
use super::report::Report;
use super::target::{RawServer, Target, remove_run_files};
use super::tools::{BASE, BEFORE, OWN, Roster, Tool, Values, targets_file};
use super::{CONNECTIONS, Context, RATE_PER_S, child, maths, own};
use chore::Outcome;
use serde_json::Value;

/// Starts whose median is what a start costs.
const STARTS: usize = 5;
/// Body bytes of `/b`, the default of the target.
const LARGE_BYTES: f64 = 683_481.0;

/// One tool in one round.
struct Round {
    requests: u64,
    /// Without what a start costs, if the bench subtracts that.
    cpu_s: f64,
    /// With it.
    whole_cpu_s: f64,
    user_s: f64,
    server_cpu_s: f64,
    peak_rss_kib: u64,
    code: Option<i32>,
}

impl Round {
    fn per_cpu_s(&self) -> f64 {
        self.requests as f64 / self.cpu_s
    }
}

/// The common setting of all tools of one bench.
pub struct Field<'a> {
    pub bench: &'static str,
    pub target: &'a dyn Target,
    /// For tools whose command line contains it.
    pub url: &'a str,
    /// Checks the target after a round with this many requests.
    pub inspect: &'a dyn Fn(&Tool, u64) -> Outcome,
    /// Compares plimsoll's own record with the server's count.
    pub agrees: fn(&Value, u64) -> Outcome,
    /// Ratios are relative to this tool.
    pub base: &'static str,
    pub connections: u32,
    /// Requests in flight on each connection.
    pub streams: u32,
}

impl<'a> Field<'a> {
    /// Requests over HTTP/1.1, compared with the usual base.
    pub fn new(bench: &'static str, target: &'a dyn Target, url: &'a str) -> Field<'a> {
        let (agrees, inspect): (fn(&Value, u64) -> Outcome, _) = (own::agrees, &|_: &Tool, _| Ok(()));
        Field { bench, target, url, inspect, agrees, base: BASE, connections: CONNECTIONS, streams: 1 }
    }
}

/// A tool with its rounds so far.
pub struct Entry {
    tool: Tool,
    rounds: Vec<Round>,
    /// What ratios are relative to.
    base: &'static str,
    /// CPU of a start, which was subtracted; `None` if it counts.
    start_cpu_s: Option<f64>,
}

pub fn plain(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let entries = on_raw_server("plain", "/", roster.plain(), context, options, report)?;
    table("plain", "GET, 76-byte body, 100 keep-alive connections", None, "", &entries, options, report);
    report.measure("plain.ratio", middle_ratio(OWN, &entries));
    if let Some(own) = find(&entries, OWN) {
        let peak = own.rounds.iter().map(|round| round.peak_rss_kib).max().unwrap_or(0);
        report.measure("plain.peak_rss_mib", Some(peak as f64 / 1024.0));
    }
    Ok(())
}

pub fn large(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let entries = on_raw_server("large", "/b", roster.large(), context, options, report)?;
    table(
        "large",
        "GET, 683,481-byte body, 100 keep-alive connections",
        Some(LARGE_BYTES),
        "",
        &entries,
        options,
        report,
    );
    for (name, key) in [(OWN, "large.unread_ratio"), ("plimsoll-read", "large.read_ratio")] {
        report.measure(key, middle_ratio(name, &entries));
    }
    // The buffer that depends on the cache should be as good as the best of the others.
    let [own, small, large] =
        ["plimsoll-read", "plimsoll-read-64k", "plimsoll-read-256k"].map(|name| middle_ratio(name, &entries));
    let best = small.zip(large).map(|(small, large)| small.max(large));
    report.measure("large.chosen_buffer", own.zip(best).map(|(own, best)| own / best));
    Ok(())
}

/// Returns the median of a tool's ratios to the base.
pub fn middle_ratio(name: &str, entries: &[Entry]) -> Option<f64> {
    let entry = find(entries, name)?;
    middle_ratio_to(entry.base, name, entries)
}

/// Returns the median of a tool's ratios to another tool.
pub fn middle_ratio_to(base: &str, name: &str, entries: &[Entry]) -> Option<f64> {
    let entry = find(entries, name)?;
    maths::median(&ratios(entry, base, entries)?)
}

fn find<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Entry> {
    entries.iter().find(|entry| entry.tool.name == name)
}

fn on_raw_server(
    bench: &'static str,
    path: &str,
    tools: Vec<Tool>,
    context: &Context,
    options: &Options,
    report: &mut Report,
) -> Result<Vec<Entry>, String> {
    let server = RawServer::start(context, false)?;
    let url = server.url(path);
    measure(&Field::new(bench, &server, &url), tools, context, options, report)
}

/// Runs all rounds of a bench.
pub fn measure(
    field: &Field,
    tools: Vec<Tool>,
    context: &Context,
    options: &Options,
    report: &mut Report,
) -> Result<Vec<Entry>, String> {
    let (bench, url) = (field.bench, field.url);
    std::fs::write(targets_file(&context.folder), format!("GET {url}\n"))
        .map_err(|e| format!("cannot write: {e}"))?;
    let values = Values {
        url,
        connections: field.connections,
        streams: field.streams,
        secs: options.secs,
        rate_per_s: RATE_PER_S,
        folder: &context.folder,
    };
    let mut entries = Vec::new();
    for tool in tools {
        match start_cpu_s(bench, &tool, &values, context) {
            Ok(start_cpu_s) => {
                if let Some(cpu_s) = start_cpu_s {
                    report.raw(bench, 0, tool.name, "start_cpu", cpu_s, "s");
                }
                entries.push(Entry { tool, rounds: Vec::new(), base: field.base, start_cpu_s });
            }
            Err(sentence) if !tool.own() && !context.smoke => report.note(&sentence),
            Err(sentence) => return Err(sentence),
        }
    }
    for round in 1..=options.rounds {
        entries.reverse();
        let mut kept = Vec::new();
        for mut entry in entries {
            match one(field, &entry, &values, context) {
                Ok(result) => {
                    record(bench, round, entry.tool.name, &result, options, report);
                    entry.rounds.push(result);
                    kept.push(entry);
                }
                // Another tool that cannot do this bench is reported and left out; plimsoll must be able to.
                Err(sentence) if !entry.tool.own() && !context.smoke => report.note(&sentence),
                Err(sentence) => return Err(sentence),
            }
        }
        entries = kept;
    }
    Ok(entries)
}

/// Returns the CPU of a start without a load, the median of some; `None` if the bench counts it.
fn start_cpu_s(bench: &str, tool: &Tool, values: &Values, context: &Context) -> Result<Option<f64>, String> {
    let Some(arguments) = tool.once(values) else { return Ok(None) };
    let log = format!("{bench}-{}-once", tool.name);
    let mut all = Vec::new();
    for _ in 0..STARTS {
        remove_run_files(values.folder)?;
        let ended = child::run(context, &tool.program, &arguments, &log, 1)?;
        // plimsoll's verdict on one request is that there are too few.
        let is_inconclusive = ended.code == Some(3) && (tool.own() || tool.name == BEFORE);
        if ended.code != Some(0) && !is_inconclusive {
            let words = child::last_words(context, &log);
            return Err(format!(
                "{} failed at its start in bench {bench}: {:?}\n{words}",
                tool.name, ended.code
            ));
        }
        all.push(ended.cpu_s());
    }
    Ok(maths::median(&all))
}

fn one(field: &Field, entry: &Entry, values: &Values, context: &Context) -> Result<Round, String> {
    let (bench, server, tool) = (field.bench, field.target, &entry.tool);
    let log = format!("{bench}-{}", tool.name);
    remove_run_files(values.folder)?;
    let (before, server_before) = (server.counters()?, server.cpu_s());
    let ended = child::run(context, &tool.program, &tool.arguments(values), &log, values.secs)?;
    let (after, server_after) = (server.counters()?, server.cpu_s());
    // The later response counted the earlier status request itself.
    let requests = (after.served - before.served).saturating_sub(u64::from(server.counts_readings()));
    let cpu_s = ended.cpu_s() - entry.start_cpu_s.unwrap_or(0.0);
    if requests == 0 || cpu_s <= 0.0 {
        let words = child::last_words(context, &log);
        return Err(format!(
            "{} made {requests} requests in bench {bench} ({:?})\n{words}",
            tool.name, ended.code
        ));
    }
    if tool.own() {
        let said = own::report(&tool.program, values.folder)?;
        (field.agrees)(&said, requests)
            .map_err(|sentence| format!("{} in bench {bench}: {sentence}", tool.name))?;
    }
    (field.inspect)(tool, requests)?;
    Ok(Round {
        requests,
        cpu_s,
        whole_cpu_s: ended.cpu_s(),
        user_s: ended.user_s,
        server_cpu_s: server_after - server_before,
        peak_rss_kib: ended.peak_rss_kib,
        code: ended.code,
    })
}

fn record(
    bench: &'static str,
    number: usize,
    tool: &str,
    round: &Round,
    options: &Options,
    report: &mut Report,
) {
    let rate_per_s = round.requests as f64 / f64::from(options.secs);
    println!(
        "round {number:2}  {tool:14} {rate_per_s:9.0} requests/s  {:6.2} CPU-s  {:9.0} per CPU-s  {:7.1} MiB",
        round.cpu_s,
        round.per_cpu_s(),
        round.peak_rss_kib as f64 / 1024.0
    );
    let code = round.code.map_or(-1.0, f64::from);
    let cells = [
        ("requests", round.requests as f64, "1"),
        ("cpu", round.whole_cpu_s, "s"),
        ("cpu_user", round.user_s, "s"),
        ("server_cpu", round.server_cpu_s, "s"),
        ("peak_rss", round.peak_rss_kib as f64, "KiB"),
        ("exit_code", code, "1"),
    ];
    for (measure, value, unit) in cells {
        report.raw(bench, number, tool, measure, value, unit);
    }
}

/// Requests per CPU-second compared with another tool, round by round. `None` if that one did not run every round.
fn ratios(entry: &Entry, base: &str, entries: &[Entry]) -> Option<Vec<f64>> {
    let base = find(entries, base).filter(|base| base.rounds.len() == entry.rounds.len())?;
    Some(entry.rounds.iter().zip(&base.rounds).map(|(a, b)| a.per_cpu_s() / b.per_cpu_s()).collect())
}

/// The table of a bench; `notes` is printed below it.
pub fn table(
    bench: &'static str,
    what: &str,
    body_bytes: Option<f64>,
    notes: &str,
    entries: &[Entry],
    options: &Options,
    report: &mut Report,
) {
    let mut text = format!("{} rounds x {} s.\n\n", options.rounds, options.secs);
    text.push_str("| generator | requests/s | requests per CPU-s | min..max |");
    text.push_str(if body_bytes.is_some() { " MB per CPU-s |" } else { "" });
    let base = entries.first().map_or(BASE, |entry| entry.base);
    text.push_str(&format!(
        " ratio to {base} | quartiles | peak RSS MiB | user share | server CPU-s | exit codes |\n"
    ));
    text.push_str(if body_bytes.is_some() { "|---" } else { "" });
    text.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    let median = |entry: &Entry, value: fn(&Round) -> f64| {
        maths::median(&entry.rounds.iter().map(value).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    sorted.sort_by(|a, b| median(b, Round::per_cpu_s).total_cmp(&median(a, Round::per_cpu_s)));
    for entry in sorted {
        let rates: Vec<f64> = entry.rounds.iter().map(Round::per_cpu_s).collect();
        let (low, high) =
            (rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max));
        let per_cpu_s = median(entry, Round::per_cpu_s);
        let requests_per_s = median(entry, |round| round.requests as f64) / f64::from(options.secs);
        let bytes = body_bytes.map_or(String::new(), |n| format!(" {:.0} |", per_cpu_s * n / 1e6));
        let (ratio, quartiles) = ratio_cells(ratios(entry, base, entries));
        text.push_str(&format!(
            "| {} | {requests_per_s:.0} | {per_cpu_s:.0} | {low:.0}..{high:.0} |{bytes} {ratio} | {quartiles} \
             | {:.1} | {:.2} | {:.2} | {} |\n",
            entry.tool.name,
            median(entry, |round| round.peak_rss_kib as f64 / 1024.0),
            median(entry, |round| round.user_s / round.whole_cpu_s),
            median(entry, |round| round.server_cpu_s),
            codes(entry),
        ));
    }
    text.push_str(&against_before(entries));
    text.push_str(&starts(entries));
    text.push_str(notes);
    report.section(bench, what, &entries.iter().map(|e| e.tool.describe()).collect::<Vec<_>>(), &text);
}

/// What a start costs each tool, if that was subtracted.
fn starts(entries: &[Entry]) -> String {
    let cost = |entry: &Entry| Some(format!("{} {:.1} ms", entry.tool.name, 1e3 * entry.start_cpu_s?));
    let costs: Vec<String> = entries.iter().filter_map(cost).collect();
    if costs.is_empty() {
        return String::new();
    }
    format!("\nCPU of a start without a load, subtracted: {}.\n", costs.join(", "))
}

/// Compares plimsoll with its earlier state, if that took part.
fn against_before(entries: &[Entry]) -> String {
    let values = find(entries, OWN).and_then(|own| ratios(own, BEFORE, entries)).unwrap_or_default();
    let at = |q| maths::quantile(&values, q);
    match (at(0.5), at(0.25), at(0.75)) {
        (Some(middle), Some(low), Some(high)) => {
            format!("\n{OWN} to `{BEFORE}`: **{middle:.3}** (quartiles {low:.3}..{high:.3}).\n")
        }
        _ => String::new(),
    }
}

fn ratio_cells(ratios: Option<Vec<f64>>) -> (String, String) {
    let values = ratios.unwrap_or_default();
    let at = |q| maths::quantile(&values, q);
    match (at(0.5), at(0.25), at(0.75)) {
        (Some(middle), Some(low), Some(high)) => (format!("{middle:.2}"), format!("{low:.2}..{high:.2}")),
        _ => ("-".into(), "-".into()),
    }
}

/// The exit codes that occurred, each once, because a failing tool needs attention.
fn codes(entry: &Entry) -> String {
    let mut codes: Vec<String> = entry
        .rounds
        .iter()
        .map(|round| round.code.map_or("signal".into(), |code| code.to_string()))
        .collect();
    codes.sort();
    codes.dedup();
    codes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_shows_its_median_and_its_quartiles() {
        let cells = ratio_cells(Some(vec![1.0, 1.2, 1.4, 1.6, 1.8]));
        assert_eq!(cells, ("1.40".to_string(), "1.20..1.60".to_string()));
        assert_eq!(ratio_cells(None).0, "-");
    }
}
