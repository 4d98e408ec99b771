//! What a report leaves out. Asked only of texts that report a load test in sentences; the bare output of a tool is no
//! report.

use super::say::{Out, num};
use super::view::{has, mentions, rows, table_rows, value};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Document, Measure, Statement, Table};

/// A few sentences about a test of load: the word, and what is measured in one. A benchmark of a parser is none.
fn is_report(document: &Document) -> bool {
    const LOAD: &[&str] = &[
        "request",
        "rps",
        "req/s",
        "concurren",
        "connections",
        "users",
        "latency",
        "response time",
        "throughput",
    ];
    let sentences: Vec<&Statement> = document.prose.iter().filter(|s| !s.code).collect();
    let named = ["load test", "load-test", "loadtest", "stress test", "performance test", "perf test"];
    let spoken = sentences.iter().filter(|s| has(&s.text, LOAD)).count();
    let outputs = document.rows.iter().any(|r| r.tool.is_some());
    let benchmark = mentions(document, &["benchmark"]) && (outputs || spoken >= 4);
    sentences.len() >= 4 && (mentions(document, &named) || benchmark) && (spoken >= 1 || measured(document))
}

fn measured(document: &Document) -> bool {
    let result = |r: &crate::foreign::model::Row| {
        r.figures.contains_key(&Measure::Rate) || r.figures.contains_key(&Measure::Mean)
    };
    document.rows.iter().any(result)
}

fn first(document: &Document) -> Option<&Statement> {
    document.prose.iter().find(|s| !s.code)
}

/// Results as pictures alone cannot be checked.
pub fn only_pictures(documents: &[Document], out: &mut Out) {
    for document in documents.iter().filter(|d| is_report(d) && !measured(d)) {
        let pictures: Vec<&Statement> = document
            .prose
            .iter()
            .filter(|s| s.text.contains("![") && has(&s.text, &[".png", ".jpg", ".jpeg", ".svg", ".gif"]))
            .collect();
        if pictures.is_empty() {
            continue;
        }
        let mut say = out.say(
            Proved,
            format!("the results are {} pictures: no figure of them can be read", pictures.len()),
        );
        for picture in pictures {
            say = say.describe(document, picture);
        }
        say.advise("publish the figures beside the pictures (CSV, JSON, or a table)");
    }
}

/// No word on connections where the usual tools open a new one for each request.
pub fn reuse_of_connections(documents: &[Document], out: &mut Out) {
    const WORDS: &[&str] = &[
        "keep-alive",
        "keep alive",
        "keepalive",
        "persistent connection",
        "connection reuse",
        "reuse connection",
        "reused connection",
        "reuses connection",
        "agent:",
        "agentkeepalive",
        " -k ",
    ];
    const NEW_EACH: &[&str] = &["loadtest", "apache bench", "apachebench", "siege", "`ab`", " ab "];
    for document in documents.iter().filter(|d| is_report(d)) {
        let known = rows(std::slice::from_ref(document))
            .iter()
            .any(|s| s.row.words.contains_key("keep_alive") || s.row.tool.is_some());
        let tool = document.prose.iter().find(|s| {
            has(&s.text, NEW_EACH)
                && has(&s.text, &["package", "tool", "using", "uses", "require", "with", "version", "run"])
        });
        let Some(tool) = tool.filter(|_| !known && !mentions(document, WORDS)) else { continue };
        out.say(Likely, "nothing is said of connections: kept, or a new one for each request".into())
            .line("new connections / 60 s of TIME_WAIT: 28,232 ports last for 470/s to one address")
            .describe(document, tool)
            .explained("this tool opens a new connection for each request unless told otherwise")
            .advise("state keep-alive on or off, and connections opened per request");
    }
}

/// One run of each, and no word on repeats.
pub fn repeats(documents: &[Document], out: &mut Out) {
    const WORDS: &[&str] = &[
        "repeats",
        "repetition",
        "repeated each",
        "was repeated",
        "were repeated",
        "repeated three",
        "repeated five",
        "repeated every",
        "times each",
        "three times",
        "several times",
        "multiple times",
        "runs of each",
        "runs each",
        "median of",
        "confidence",
        "best of",
        "±",
        "standard error",
        "average of 3",
        "average of three",
        "average of five",
    ];
    for document in documents.iter().filter(|d| is_report(d) && !mentions(d, WORDS)) {
        let seen = rows(std::slice::from_ref(document));
        let again = seen.iter().enumerate().any(|(i, a)| {
            seen[i + 1..].iter().any(|b| {
                a.row.label == b.row.label
                    && a.users() == b.users()
                    && a.row.table.is_some()
                    && a.row.table == b.row.table
            })
        });
        if again {
            continue;
        }
        let Some(said) = first(document) else { continue };
        out.say(Possible, "nothing is said of repeats: every figure may be of one run".into())
            .describe(document, said)
            .advise("repeat every configuration at least three times, in turns, and state the range");
    }
}

/// No word on warm-up.
pub fn warm_up(documents: &[Document], out: &mut Out) {
    const WORDS: &[&str] = &["warm", "ramp", "steady", "cold start", "discard", "settle"];
    for document in documents.iter().filter(|d| is_report(d) && !mentions(d, WORDS)) {
        let Some(said) = first(document) else { continue };
        out.say(Possible, "nothing is said of warm-up: the first seconds may be in the figures".into())
            .describe(document, said)
            .advise(
                "leave out the time in which caches, pools and compilers warm up, and say how long it was",
            );
    }
}

/// Latency without a single percentile in the whole text.
pub fn any_percentile(documents: &[Document], out: &mut Out) {
    for document in documents.iter().filter(|d| is_report(d) && !measured(d)) {
        let none = !mentions(
            document,
            &["percentile", "p95", "p99", "p90", "p(9", "quantile", "median", "95%", "99%", "95 %", "99 %"],
        );
        let said = document.prose.iter().find(|s| has(&s.text, &["latency", "response time"]));
        if let Some(said) = said.filter(|_| none) {
            out.say(Likely, "latency is spoken of without any percentile".into())
                .describe(document, said)
                .advise("state median, p95, p99 and maximum");
        }
    }
}

/// Client and servers share one machine.
pub fn one_machine(documents: &[Document], out: &mut Out) {
    for document in documents.iter().filter(|d| is_report(d)) {
        let local = |s: &&Statement| s.code && loads_itself(&s.text);
        let words = |s: &&Statement| {
            !s.code
                && has(
                    &s.text,
                    &[
                        "same machine",
                        "same host",
                        "same server as the",
                        "on my development machine",
                        "one machine for everything",
                        "on my laptop",
                    ],
                )
                && !has(&s.text, &["not on the same", "no longer on the same"])
        };
        let Some(said) = document.prose.iter().find(local).or_else(|| document.prose.iter().find(words))
        else {
            continue;
        };
        out.say(
            Likely,
            "client and server run on one machine: they take processor time from each other".into(),
        )
        .describe(document, said)
        .explained("a limit of such a run is the limit of both together")
        .advise(
            "put the client on a machine of its own, or bind both to processors and state the client's share",
        );
    }
}

/// A command of a load generator, or the first line of its output, with an address of this machine. Others call a
/// service, name a store of results, or open a page.
fn loads_itself(line: &str) -> bool {
    const LOCAL: [&str; 3] = ["//localhost", "//127.0.0.1", "//[::1]"];
    const TOOLS: [&str; 18] = [
        "wrk",
        "wrk2",
        "ab",
        "hey",
        "oha",
        "bombardier",
        "h2load",
        "siege",
        "vegeta",
        "autocannon",
        "loadtest",
        "rewrk",
        "k6",
        "locust",
        "artillery",
        "bombarding",
        "running",
        "plimsoll",
    ];
    let lower = line.to_lowercase();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let mut names =
        words.map(|word| word.split("-windows").next().unwrap_or(word).trim_end_matches("-linux"));
    let options = ["maxseconds", "maxrequests", "concurrency:", "connections:", "vus:"];
    let stored = ["influxdb=", "--out ", "-o "].iter().any(|option| lower.contains(option));
    has(&lower, &LOCAL) && !stored && (has(&lower, &options) || names.any(|name| TOOLS.contains(&name)))
}

fn columns(table: &Table, document: &Document) -> Vec<Measure> {
    let mut found: Vec<Measure> =
        table_rows(document, table).flat_map(|r| r.figures.keys().copied()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A column that all comparable tables have is left out of one.
pub fn column_left_out(documents: &[Document], out: &mut Out) {
    for document in documents {
        let kinds: Vec<(&Table, Vec<Measure>)> =
            document.tables.iter().map(|t| (t, columns(t, document))).collect();
        for (table, own) in &kinds {
            let like = |other: &&(&Table, Vec<Measure>)| {
                let more: Vec<_> = other.1.iter().filter(|m| !own.contains(m)).collect();
                more.len() == 1 && own.len() >= 3 && own.iter().all(|m| other.1.contains(m))
            };
            let others: Vec<_> = kinds.iter().filter(like).collect();
            if others.len() < 2 || others.len() * 2 < kinds.len() {
                continue;
            }
            let Some(left_out) = others[0].1.iter().find(|m| !own.contains(m)) else { continue };
            if others.iter().any(|(_, m)| !m.contains(left_out)) {
                continue;
            }
            let header =
                others[0].0.columns.iter().find(|c| !table.columns.contains(c)).cloned().unwrap_or_default();
            out.say(Likely, format!("`{header}` is left out of this table; {} others have it", others.len()))
                .line(format!("columns here: {}", table.columns.join(", ")))
                .at(document, table.lines.0, table.columns.join(" | "))
                .advise(
                    "print the same columns for all results: the one left out is often the one that \
                     does not fit",
                );
        }
    }
}

/// Failures as a number without their kind.
pub fn kind_of_errors(documents: &[Document], out: &mut Out) {
    const KINDS: &[&str] = &[
        "status",
        "5xx",
        "4xx",
        "500",
        "502",
        "503",
        "504",
        "404",
        "timeout",
        "time-out",
        "refused",
        "reset",
        "error type",
        "error kind",
    ];
    for document in documents {
        let describe = |t: &Table| {
            let around = t.around.iter().any(|c| has(&c.text, KINDS) && has(&c.text, &["error", "fail"]));
            around || t.columns.iter().any(|c| has(c, KINDS))
        };
        let failed = |r: &&crate::foreign::model::Row| value(r, Measure::Errors).is_some_and(|e| e >= 1.0);
        let tables = document.tables.iter().filter(|t| !describe(t));
        let rows: Vec<_> = tables.flat_map(|t| table_rows(document, t).filter(failed)).collect();
        if rows.is_empty() {
            continue;
        }
        let sum: f64 = rows.iter().filter_map(|r| value(r, Measure::Errors)).sum();
        let mut say = out.say(Possible, format!("{} failures without their kind", num(sum)));
        for row in rows {
            let (e, n) = (value(row, Measure::Errors).unwrap_or(0.0), value(row, Measure::Requests));
            if let Some(n) = n.filter(|n| *n > 0.0) {
                let share = num(e / n * 1e6);
                say = say.line(format!("{}: {} of {} = {share} in a million", row.label, num(e), num(n)));
            }
            say = say.figures(document, row, &[Measure::Errors]);
        }
        say.advise("state failures by kind: refused, reset, timed out, status, wrong body");
    }
}
