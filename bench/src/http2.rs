//! `http2`: requests per generator CPU-second over HTTP/2, compared with `h2load`. How a server writes decides the
//! ratio: one that answers in batches leaves the generator's own work, one that writes each response alone leaves the
//! kernel's.

use super::Context;
use super::nginx::{LARGE_BYTES, Nginx};
use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::target::{RawServer, Target};
use super::tools::{H2LOAD_BASE, OWN, Roster, experiment_file, once_file};
use chore::Outcome;

/// Which server answers, and how.
enum Server {
    /// One write for the responses to all requests of a read.
    Batching,
    /// nginx, which writes each response by itself.
    Plain,
    Tls,
    Large,
}

/// One comparison.
struct Case {
    what: &'static str,
    measure: &'static str,
    server: Server,
    connections: u32,
    streams: u32,
}

const CASES: [Case; 6] = [
    Case {
        what: "plain text, server that batches, 8 connections x 100 streams",
        measure: "http2.batching_ratio",
        server: Server::Batching,
        connections: 8,
        streams: 100,
    },
    Case {
        what: "plain text, nginx, 8 connections x 10 streams",
        measure: "http2.nginx_ratio",
        server: Server::Plain,
        connections: 8,
        streams: 10,
    },
    Case {
        what: "plain text, nginx, 1 connection x 100 streams",
        measure: "http2.nginx_single_ratio",
        server: Server::Plain,
        connections: 1,
        streams: 100,
    },
    Case {
        what: "TLS 1.3, nginx, 8 connections x 10 streams",
        measure: "http2.tls_ratio",
        server: Server::Tls,
        connections: 8,
        streams: 10,
    },
    Case {
        what: "TLS 1.3, nginx, 1 connection x 100 streams",
        measure: "http2.tls_single_ratio",
        server: Server::Tls,
        connections: 1,
        streams: 100,
    },
    Case {
        what: "plain text, nginx, 100 KiB bodies, 8 connections x 10 streams",
        measure: "http2.large_ratio",
        server: Server::Large,
        connections: 8,
        streams: 10,
    },
];

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    CASES.iter().try_for_each(|case| one(case, context, roster, options, report))
}

fn one(case: &Case, context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    match case.server {
        Server::Batching => {
            let raw = RawServer::start(context, false)?;
            compare(case, &raw, &raw.url("/"), "", None, context, roster, options, report)
        }
        Server::Plain => {
            let nginx = Nginx::start(context, None)?;
            compare(case, &nginx, &nginx.http2_url("/"), "", None, context, roster, options, report)
        }
        Server::Tls => {
            let nginx = Nginx::start(context, None)?;
            let trust =
                format!("tls: {{ ca: {}, session_resumption: false }}\n", nginx.authority().display());
            compare(case, &nginx, &nginx.http2_tls_url("/"), &trust, None, context, roster, options, report)
        }
        Server::Large => {
            let nginx = Nginx::start(context, None)?;
            let (url, bytes) = (nginx.http2_url("/large"), Some(LARGE_BYTES as f64));
            compare(case, &nginx, &url, "", bytes, context, roster, options, report)
        }
    }
}

#[allow(clippy::too_many_arguments)] // Four callers, side by side.
fn compare(
    case: &Case,
    target: &dyn Target,
    url: &str,
    trust: &str,
    body_bytes: Option<f64>,
    context: &Context,
    roster: &Roster,
    options: &Options,
    report: &mut Report,
) -> Outcome {
    let load = format!("users: {}, duration: {}s", case.connections * case.streams, options.secs);
    for (file, load, streams) in [
        (experiment_file(&context.folder), load.as_str(), case.streams),
        (once_file(&context.folder), "users: 1, iterations: 1", 1),
    ] {
        let text = experiment(url, trust, streams, load);
        std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    }
    let (connections, streams) = (case.connections, case.streams);
    let usual = Field::new("http2", target, url);
    let field = Field { base: H2LOAD_BASE, connections, streams, ..usual };
    let entries = ratio::measure(&field, roster.http2(), context, options, report)?;
    ratio::table("http2", case.what, body_bytes, "", &entries, options, report);
    report.measure(case.measure, ratio::middle_ratio(OWN, &entries));
    Ok(())
}

fn experiment(url: &str, trust: &str, streams: u32, load: &str) -> String {
    // The third slash begins the path.
    let path = url.match_indices('/').nth(2).map_or("/", |(at, _)| &url[at..]);
    let target = url.strip_suffix(path).unwrap_or(url);
    format!(
        "name: bench over HTTP/2\ntarget: {target}\n{trust}connection: {{ http: 2, streams: {streams} }}\n\
         scenarios:\n  front: [ get: {path} ]\nload: {{ {load} }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_experiment_has_the_path_of_the_url() {
        let text = experiment("http://127.0.0.1:1/large", "", 10, "users: 80, duration: 1s");
        assert!(text.contains("target: http://127.0.0.1:1\n") && text.contains("get: /large "), "{text}");
        assert!(text.contains("streams: 10 }"), "{text}");
    }
}
