//! What a reader needs to judge a result and does not find. Asked of rows that state a result, and never of what the
//! tool prints only when there is something to print.

use super::subject::{Hit, Subject};
use crate::Certainty::{Likely, Possible};
use crate::foreign::{Figure, Measure};

fn has(s: &Subject, measures: &[Measure]) -> bool {
    measures.iter().any(|m| s.row.figures.contains_key(m))
}

/// A row with a time or a rate: a result.
fn result<'a>(s: &Subject<'a>) -> Option<&'a Figure> {
    let named = [Measure::Rate, Measure::Mean].into_iter().find_map(|m| s.row.figures.get(&m));
    named.or_else(|| s.row.figures.iter().find(|(m, _)| matches!(m, Measure::Percentile(_))).map(|(_, f)| f))
}

/// A row of a label or tag inside a run states only its times: the run says the rest.
fn own_run(s: &Subject) -> bool {
    s.row.figures.contains_key(&Measure::Rate) || s.row.figures.contains_key(&Measure::Requests)
}

fn high_percentile(s: &Subject) -> bool {
    s.row.samples.is_some()
        || s.row.figures.keys().any(|m| matches!(m, Measure::Percentile(p) if *p >= 9_000))
}

/// The figure is said in a sentence around the table, or anywhere in the text.
fn claimed(s: &Subject, measures: &[Measure]) -> bool {
    let table = s.row.table.and_then(|t| s.document.tables.get(t));
    let around = table.into_iter().flat_map(|t| &t.around);
    let named = |figures: &[(Option<Measure>, Figure)]| {
        figures.iter().any(|(m, _)| m.is_some_and(|m| measures.contains(&m)))
    };
    around.chain(&s.document.claims).any(|claim| named(&claim.figures))
}

/// A text this long is a file of samples, which says nothing in words.
const SPOKEN: usize = 200_000;

/// The text, in lower case.
fn words(s: &Subject) -> String {
    let document = s.document;
    let whole = if document.text.len() <= SPOKEN { document.text.to_lowercase() } else { String::new() };
    // Documents that were made by hand have their sentences only.
    let claims = document.claims.iter().chain(document.tables.iter().flat_map(|t| &t.around));
    claims.fold(whole, |all, c| all + "\n" + &c.text.to_lowercase())
}

/// A machine is described by a number (`4 vCPU`, `2.5 GHz`, `8 GB RAM`) or by the name of a size (`c5.large`).
fn describes_machines(text: &str) -> bool {
    const SIZES: [&str; 6] = [".large", "xlarge", ".medium", ".small", ".micro", "-standard-"];
    const UNITS: [&str; 20] = [
        "ghz",
        "vcpu",
        "core",
        "cpu",
        "gb ram",
        "gb of ram",
        "gb memory",
        "gb of memory",
        "gib",
        "g ram",
        "核",
        "コア",
        "gb内存",
        "g内存",
        "núcleo",
        "cœur",
        "kerne",
        "ядер",
        "ядра",
        "гб",
    ];
    let counted = |unit: &str| {
        text.match_indices(unit).any(|(at, _)| {
            let before = text[..at].trim_end_matches([' ', '-', '\u{a0}']);
            before.ends_with(|c: char| c.is_ascii_digit())
        })
    };
    SIZES.iter().any(|size| text.contains(size)) || UNITS.iter().any(|unit| counted(unit))
}

fn hit(certainty: crate::Certainty, sentence: &'static str, figure: &Figure) -> Hit {
    Hit::new(certainty, sentence, sentence).at([figure])
}

/// No percentile of 90 or more.
pub(super) fn percentiles(s: &Subject) -> Option<Hit> {
    let mean = s.row.figures.get(&Measure::Mean)?;
    let spread = has(s, &[Measure::Max, Measure::StdDev]);
    (!high_percentile(s) && spread).then(|| {
        hit(Likely, "no percentile is stated", mean)
            .advice("state p95 and p99: mean and maximum say little of what most users see")
    })
}

/// A mean alone.
pub(super) fn only_a_mean(s: &Subject) -> Option<Hit> {
    let mean = s.row.figures.get(&Measure::Mean)?;
    let spread = has(s, &[Measure::Max, Measure::StdDev, Measure::Min]);
    let any = s.row.figures.keys().any(|m| matches!(m, Measure::Percentile(_)));
    (!spread && !any && s.row.samples.is_none()).then(|| {
        hit(Likely, "a mean is the only time stated", mean)
            .advice("state median, p95, p99 and maximum: many distributions have this mean")
    })
}

/// No word of failures.
pub(super) fn errors(s: &Subject) -> Option<Hit> {
    let figure = result(s)?;
    // wrk, vegeta and hey name failures only when there are any; ab and JMeter always.
    if !own_run(s) || s.is(|d| d.is_silent_on_success) {
        return None;
    }
    let errors = [
        Measure::Errors,
        Measure::ErrorRatio,
        Measure::Non2xx,
        Measure::ConnectErrors,
        Measure::ReadErrors,
        Measure::TimeoutErrors,
        Measure::LengthErrors,
        Measure::ChecksFailed,
    ];
    let others = ["error", "fail", "success", "check"];
    let named = s.row.others.keys().chain(s.row.words.keys()).any(|k| others.iter().any(|o| k.contains(o)));
    (!has(s, &errors) && !named && s.row.samples.is_none() && !claimed(s, &errors)).then(|| {
        hit(Likely, "failures are not stated", figure)
            .advice("state how many requests failed, and how: a failure is often the fastest answer")
    })
}

const LOADS: [&str; 8] = ["-c", "--connections", "--vus", "-u", "--users", "-r", "--rate", "-rate"];
const LENGTHS: [&str; 5] = ["-d", "--duration", "-z", "-D", "-duration"];

/// Whether a command of a load generator in the text states the load, and the duration: `autocannon -c 100 -d 40`.
fn commanded(s: &Subject) -> [bool; 2] {
    const TOOLS: [&str; 12] = [
        "wrk",
        "wrk2",
        "ab",
        "hey",
        "oha",
        "autocannon",
        "bombardier",
        "h2load",
        "loadtest",
        "vegeta",
        "k6",
        "locust",
    ];
    let text = if s.document.text.len() <= SPOKEN { &s.document.text } else { "" };
    let has_flag = |words: &[&str], flags: &[&str]| {
        let value = |at: usize| {
            let flag = flags.iter().find(|flag| words[at].starts_with(**flag))?;
            let own = words[at][flag.len()..].trim_start_matches('=');
            if own.is_empty() { words.get(at + 1).copied() } else { Some(own) }
        };
        (0..words.len()).filter_map(value).any(|value| value.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut found = [false; 2];
    for line in text.lines() {
        let words: Vec<&str> =
            line.split(|c: char| c.is_whitespace() || c == '`').filter(|word| !word.is_empty()).collect();
        let is_tool = |word: &&str| TOOLS.contains(&word.rsplit('/').next().unwrap_or(word));
        let Some(at) = words.iter().position(is_tool) else { continue };
        let flags = &words[at + 1..];
        found = [found[0] || has_flag(flags, &LOADS), found[1] || has_flag(flags, &LENGTHS)];
    }
    found
}

/// Neither a duration nor a count and a rate that give one.
pub(super) fn duration(s: &Subject) -> Option<Hit> {
    let figure = result(s)?;
    let derived = has(s, &[Measure::Requests]) && has(s, &[Measure::Rate]);
    let named = has(s, &[Measure::Duration]) || derived || s.row.samples.is_some();
    let asked = || s.once.commands.get_or_init(|| commanded(s))[1];
    (own_run(s) && !named && !claimed(s, &[Measure::Duration]) && !asked()).then(|| {
        hit(Likely, "the duration is not stated", figure)
            .advice("state how long was measured, and what came before it (warm-up)")
    })
}

/// Neither users nor an offered rate: the load itself.
pub(super) fn load(s: &Subject) -> Option<Hit> {
    let figure = result(s)?;
    let load = [Measure::Users, Measure::OfferedRate];
    let samples = s.row.samples.as_ref().is_some_and(|x| x.concurrent_max > 0);
    let asked = || s.once.commands.get_or_init(|| commanded(s))[0];
    (own_run(s) && !has(s, &load) && !samples && !claimed(s, &load) && !asked()).then(|| {
        hit(Likely, "the load is not stated: neither users nor an offered rate", figure)
            .advice("state how many users or connections, or which arrival rate")
    })
}

/// Definitions change from version to version.
pub(super) fn tool_version(s: &Subject) -> Option<Hit> {
    let figure = result(s)?;
    s.tool()?;
    let known = || s.document.rows.iter().any(|r| r.words.keys().any(|k| k.contains("version")));
    let versioned = *s.once.versioned.get_or_init(|| known() || words(s).contains("version"));
    (!versioned).then(|| {
        hit(Possible, "the version of the tool is not stated", figure).advice(
            "state name and version of the load generator: what its figures mean changes between them",
        )
    })
}

/// A report (not a bare output) that says nothing of the machines.
pub(super) fn hardware(s: &Subject) -> Option<Hit> {
    let figure = result(s)?;
    let report = !s.document.claims.is_empty() || s.document.tables.iter().any(|t| !t.around.is_empty());
    let described = || *s.once.machines.get_or_init(|| describes_machines(&words(s)));
    (report && !has(s, &[Measure::Cpu, Measure::MemoryBytes]) && !described()).then(|| {
        hit(Possible, "the machines are not described", figure)
            .advice("state CPU, memory and network of both sides, and whether they are the same machine")
    })
}
