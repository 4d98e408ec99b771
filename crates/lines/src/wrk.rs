//! Reads a command line of wrk 4.1.0.

use crate::ask::Ask;
use crate::flags::{self, Does, Mistakes, Own, Row, Style, bare, with};
use plimsoll_plan::link::Http;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Draft, Problem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Connections,
    Duration,
    Threads,
    Header,
    Latency,
    Timeout,
    Version,
    Script,
}

const TABLE: &[Row<Flag>] = &[
    with(&["-c", "--connections"], Does::Apply(Flag::Connections)),
    with(&["-d", "--duration"], Does::Apply(Flag::Duration)),
    with(&["-t", "--threads"], Does::Apply(Flag::Threads)),
    with(&["-s", "--script"], Does::Apply(Flag::Script)),
    with(&["-H", "--header"], Does::Apply(Flag::Header)),
    bare(&["-L", "--latency"], Does::Apply(Flag::Latency)),
    with(&["-T", "--timeout"], Does::Apply(Flag::Timeout)),
    bare(&["-v", "--version"], Does::Apply(Flag::Version)),
    bare(&["-r"], Does::Nothing("wrk accepts it without an effect")),
];

/// A command line, and what the text of wrk shows of it.
#[derive(Debug, Clone)]
pub struct Wrk {
    pub draft: Draft,
    pub own: Own,
    /// As written.
    pub url: String,
    pub threads: u64,
    pub connections: u64,
    pub duration_s: u64,
    pub timeout_ns: u64,
    /// `--latency`: print percentiles.
    pub has_latency: bool,
    /// `-s`: the name of a script in Lua, which makes the requests.
    pub script: Option<String>,
    /// The arguments of the script, after the URL.
    pub arguments: Vec<String>,
    /// `-v`: print the version only.
    pub is_version: bool,
}

/// Reads the words after `plimsoll wrk`.
///
/// # Errors
/// Returns every mistake found.
pub fn parse(args: &[String]) -> Result<Wrk, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("wrk", args, Style::Gnu, TABLE, &mut wrong);
    let mut line = Wrk {
        draft: Draft::default(),
        own: words.own,
        url: String::new(),
        threads: 2,
        connections: 10,
        duration_s: 10,
        timeout_ns: 2 * SECOND_NS,
        has_latency: false,
        script: None,
        arguments: Vec::new(),
        is_version: false,
    };
    let mut ask = Ask::default();
    for given in &words.flags {
        let (flag, value) = (given.flag.as_str(), given.value.as_str());
        let mut set = |place: &mut u64, read: Result<u64, Problem>| {
            if let Some(value) = wrong.taken(flag, read) {
                *place = value;
            }
        };
        match given.does {
            Flag::Connections => set(&mut line.connections, count(value)),
            Flag::Threads => set(&mut line.threads, count(value)),
            Flag::Duration => set(&mut line.duration_s, seconds(value)),
            Flag::Timeout => set(&mut line.timeout_ns, seconds(value).map(|s| s.saturating_mul(SECOND_NS))),
            Flag::Latency => line.has_latency = true,
            Flag::Version => line.is_version = true,
            Flag::Script => line.script = Some(value.to_owned()),
            Flag::Header => {
                wrong.taken(flag, ask.header(value));
            }
        }
    }
    if line.is_version && wrong.0.is_empty() {
        return Ok(line);
    }
    if line.connections < line.threads {
        let message = format!("{} threads require as many connections", line.threads);
        let hint = format!("write `-c{}` or more, or fewer threads (`-t`)", line.threads);
        wrong.usage("-c", Problem::new(message, hint));
    }
    match words.others.as_slice() {
        [] => wrong.usage("", Problem::new("missing URL", "add one, such as `http://127.0.0.1:8080/`")),
        [url] => line.url.clone_from(url),
        [url, arguments @ ..] if line.script.is_some() => {
            line.url.clone_from(url);
            line.arguments = arguments.to_vec();
        }
        [_, word, ..] => {
            let message = format!("unexpected argument `{word}`: only scripts have arguments");
            wrong.usage("", Problem::new(message, "remove it"));
        }
    }
    // wrk does not verify certificates, and speaks only HTTP/1.1.
    ask.tls.insecure = true;
    ask.link.http = Http::V11;
    if !line.url.is_empty() {
        line.draft = ask.finish(&line.url, Draft::default(), &mut wrong);
    }
    let load = &mut line.draft.load;
    load.users = u32::try_from(line.connections).ok();
    load.duration_ns = line.duration_s.checked_mul(SECOND_NS);
    line.draft.workers = u32::try_from(line.threads).ok();
    line.draft.timeout_ns = Some(line.timeout_ns);
    if wrong.0.is_empty() { Ok(line) } else { Err(wrong.0) }
}

/// Reads `100`, `1k`, `1M`, or `1G`.
fn count(text: &str) -> Result<u64, Problem> {
    let units = [("", 1), ("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000)];
    scaled(text, &units).filter(|n| (1..=u64::from(u32::MAX)).contains(n)).ok_or_else(|| {
        Problem::new(format!("invalid number `{text}`"), "write a whole number, such as `100` or `1k`")
    })
}

/// Reads `10`, `10s`, `2m`, or `1h`; returns seconds.
fn seconds(text: &str) -> Result<u64, Problem> {
    // A year: nanoseconds of it fit in a u64.
    const MAX_S: u64 = 366 * 86_400;
    let units = [("", 1), ("s", 1), ("m", 60), ("h", 3_600)];
    scaled(text, &units).filter(|s| (1..=MAX_S).contains(s)).ok_or_else(|| {
        Problem::new(format!("invalid time `{text}`"), "write whole seconds, such as `30s`, `2m`, or `1h`")
    })
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, scale) = units.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name))?;
    number.parse::<u64>().ok()?.checked_mul(*scale)
}
