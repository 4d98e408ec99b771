//! The command that repeats a run, as far as its plan is one that a command line can say.

use crate::format::chosen_ns;
use crate::words::shell_word;
use plimsoll_plan::Outline;
use plimsoll_plan::load::{Arrivals, Load};
use plimsoll_plan::route::ProxyProtocolVersion;

/// `plimsoll http://127.0.0.1:8080/pick -c 100 -d 15s ...`; `None`: the plan came from a file, or holds what no report
/// shows, such as headers that may be secret and the text of a body.
pub fn command(plan: &Outline) -> Option<String> {
    let [request] = plan.requests.as_slice() else { return None };
    let profile = plan.load.profile();
    let is_plain = plan.workloads.is_empty()
        && plan.checks.is_empty()
        && plan.cell.is_none()
        && plan.monitors.is_empty()
        && request.headers.is_empty()
        && request.body_bytes == 0
        && !request.is_stream
        && profile.stages.is_empty();
    if !is_plain {
        return None;
    }
    let route = &plan.link.route;
    let has_secret = route.proxy.as_ref().is_some_and(|proxy| proxy.has_login);
    let has_sources = route.proxy_protocol.as_ref().is_some_and(|header| !header.source_addresses.is_empty());
    if has_secret || has_sources {
        return None;
    }
    let mut words = vec!["plimsoll".to_owned(), shell_word(&plan.url_of(request))];
    if request.method != "GET" {
        words.push(format!("-X {}", shell_word(&request.method)));
    }
    words.extend(route.proxy.as_ref().map(|proxy| format!("--proxy {}", shell_word(&proxy.url()))));
    words.extend(route.unix_socket.as_ref().map(|path| format!("--unix-socket {}", shell_word(path))));
    words.extend(route.interface.as_ref().map(|name| format!("--interface {}", shell_word(name))));
    words.extend(route.proxy_protocol.as_ref().map(|header| match header.version {
        ProxyProtocolVersion::V1 => "--proxy-protocol v1".to_owned(),
        ProxyProtocolVersion::V2 => "--proxy-protocol v2".to_owned(),
    }));
    match &plan.load {
        Load::Closed { .. } => words.push(format!("-c {}", profile.peak())),
        Load::Open { arrivals, .. } => {
            words.push(format!("-r {}", profile.peak()));
            words.push(format!("--max-connections {}", plan.connections));
            match arrivals {
                Arrivals::Constant => {}
                Arrivals::Poisson => words.push("--arrivals poisson".into()),
                // Recorded instants are in a file.
                Arrivals::Recorded => return None,
            }
        }
    }
    words.extend(plan.stop.duration_ns.map(|ns| format!("-d {}", time(ns))));
    words.extend(plan.stop.requests.map(|n| format!("-n {n}")));
    if plan.warmup_ns > 0 {
        words.push(format!("--warmup {}", time(plan.warmup_ns)));
    }
    words.push(format!("--timeout {}", time(plan.timeout_ns)));
    words.push(format!("-t {}", plan.workers));
    if !plan.keep_alive {
        words.push("--no-keepalive".into());
    }
    if plan.read_bodies {
        words.push("--read-bodies".into());
    }
    let asked = plan.thresholds.iter().filter(|threshold| !threshold.is_default);
    words.extend(asked.map(|threshold| format!("--threshold {}", shell_word(&threshold.text))));
    if plan.share.of > 1 {
        words.push(format!("--shard {}/{}", plan.share.part, plan.share.of));
    }
    words.push(format!("--seed {}", plan.seed));
    Some(words.join(" "))
}

/// A length as a flag takes it: without the blank.
fn time(ns: u64) -> String {
    match (ns % 1_000_000_000, ns % 1_000_000) {
        (0, _) => format!("{}s", ns / 1_000_000_000),
        (_, 0) => format!("{}ms", ns / 1_000_000),
        _ => chosen_ns(ns).replace(' ', "").replace('µ', "u"),
    }
}
