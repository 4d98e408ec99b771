//! Shows a plan as text before the load: with all defaults and resolved names, and without secrets.

mod answer;
mod load;
mod steps;
pub mod study;
mod words;

use plimsoll_plan::Plan;
use plimsoll_plan::link::{Addresses, Dns, Http, Link, Reuse, Tls, Versions};
use plimsoll_plan::phrase::ratio;
use plimsoll_plan::route::{ProxyProtocol, ProxyProtocolVersion, Route};
use plimsoll_plan::script::{Entry, Order, Script};
use words::{Lines, bytes, time};

/// Returns the plan as text, which ends with a line end.
pub fn show(plan: &Plan) -> String {
    let outline = &plan.outline;
    let mut out = Lines::default();
    out.fact("experiment", &outline.name);
    if let Some(question) = &outline.question {
        out.fact("question", question);
    }
    if let Some(factor) = outline.scale {
        out.fact("scale", &format!("{factor} (already applied to all durations below)"));
    }
    let origins = outline.all_origins();
    for (at, origin) in origins.iter().enumerate() {
        match at {
            0 => out.fact("target", &origin.url()),
            _ => out.fact("origin", &origin.describe()),
        }
    }
    connection(&outline.link, plan, &mut out);
    load::show(plan, &mut out);
    out.fact("workers", &workers(plan));
    for threshold in &outline.thresholds {
        let origin = if threshold.is_default { " (default)" } else { "" };
        out.fact("threshold", &format!("{}{origin}", threshold.text));
    }
    let buckets: Vec<String> = outline.buckets_ns.iter().map(|ns| time(*ns)).collect();
    out.fact("buckets", &buckets.join(", "));
    let timeout = format!("{}, measured from the send", time(outline.timeout_ns));
    out.fact("timeout", &timeout);
    if outline.read_bodies {
        out.fact("bodies", "read by the load generator, not discarded in the kernel");
    }
    for (name, value) in &outline.system_under_test {
        out.fact("environment", &format!("{name}: {value}"));
    }
    for watch in &outline.monitors {
        let of = if watch.target.is_empty() { "the load generator" } else { watch.target.as_str() };
        out.fact("monitor", &format!("`{}`: {} of {of}", watch.name, watch.kind));
    }
    match &plan.script {
        None => sequence(plan, &mut out),
        Some(script) => script_of(plan, script, &mut out),
    }
    out.finish()
}

fn workers(plan: &Plan) -> String {
    let outline = &plan.outline;
    let mut text = format!("{}, seed {}", outline.workers, outline.seed);
    if outline.share.of > 1 {
        text.push_str(&format!(", shard {} of {}", outline.share.part, outline.share.of));
    }
    text
}

fn connection(link: &Link, plan: &Plan, out: &mut Lines) {
    let reuse = match link.reuse {
        Reuse::User => "kept by each user",
        Reuse::Pool => "shared by the users of a worker",
        Reuse::Iteration => "new for each iteration",
        Reuse::Request => "new for each request",
    };
    let version = match link.http {
        Http::Auto if plan.outline.tls().is_some() && !link.is_pipelined => {
            "HTTP/2 if the server chooses it, otherwise HTTP/1.1"
        }
        Http::V10 => "HTTP/1.0",
        Http::V11 | Http::Auto => "HTTP/1.1",
        Http::V2 => "HTTP/2",
    };
    let mut text = format!("{version}, {reuse}");
    if link.is_pipelined {
        text.push_str(&format!(", pipelined with {} requests in flight", link.streams));
    } else if link.streams > 1 {
        text.push_str(&format!(", shared by {} users each", link.streams));
    }
    if let Some(requests) = link.requests_per_connection {
        text.push_str(&format!(", closed after {}", words::count(u64::from(requests), "request")));
    }
    if !link.weighted.is_empty() {
        let each = link.weighted.iter().map(|one| {
            let socket = one.socket(plan.outline.port);
            if one.weight == 1 { socket.to_string() } else { format!("{socket} ({} of a cycle)", one.weight) }
        });
        text.push_str(&format!(", over {}", each.collect::<Vec<_>>().join(", ")));
    } else if link.addresses == Addresses::All {
        text.push_str(", round-robin over all addresses of the host");
    }
    if link.dns == Dns::EachConnection {
        text.push_str(", with a DNS lookup each");
    }
    out.fact("connection", &text);
    route(&link.route, out);
    for (host, address) in &link.resolve {
        out.fact("resolve", &format!("{host} to {address}"));
    }
    match link.source_addresses.as_slice() {
        [] => {}
        [one] => out.fact("source", &one.to_string()),
        [first, .., last] => {
            let number = link.source_addresses.len();
            out.fact("source", &format!("{first} to {last}, round-robin over {number} addresses"));
        }
    }
    if let Some(tls) = &link.tls {
        out.fact("tls", &tls_words(tls, plan));
    }
}

fn route(route: &Route, out: &mut Lines) {
    if let Some(proxy) = &route.proxy {
        let login = if proxy.has_login { ", with user name and password" } else { "" };
        out.fact("proxy", &format!("{}{login}", proxy.url()));
    }
    if let Some(path) = &route.unix_socket {
        out.fact("unix socket", path);
    }
    if let Some(ProxyProtocol { version, source_addresses }) = &route.proxy_protocol {
        let version = match version {
            ProxyProtocolVersion::V1 => "v1",
            ProxyProtocolVersion::V2 => "v2",
        };
        let sources = match source_addresses.as_slice() {
            [] => "with the address of each connection".to_owned(),
            [one] => format!("with the source {one}"),
            all => format!("with {} sources, round-robin over connections", all.len()),
        };
        out.fact("proxy protocol", &format!("{version}, {sources}"));
    }
    if let Some(name) = &route.interface {
        out.fact("interface", name);
    }
}

fn tls_words(tls: &Tls, plan: &Plan) -> String {
    let versions = match tls.versions {
        Versions::Both => "1.2 or 1.3",
        Versions::Tls12 => "only 1.2",
        Versions::Tls13 => "only 1.3",
    };
    let trust = match (tls.insecure, plan.tls_files.ca.len()) {
        (true, _) => "certificates not verified".to_owned(),
        (false, 0) => "verified with public certificate authorities".to_owned(),
        (false, files) => format!("verified with {}", words::count(files as u64, "CA file")),
    };
    let mut text = format!("{versions}, {trust}, server name `{}`", tls.server_name);
    match plan.tls_files.clients.len() {
        0 => {}
        1 => text.push_str(", client certificate"),
        number => text.push_str(&format!(", {number} client certificates in rotation")),
    }
    if !tls.ciphers.is_empty() {
        text.push_str(&format!(", {}", tls.ciphers.join(", ")));
    }
    match (tls.resume, tls.ignores_tickets) {
        (false, _) => {}
        (true, false) => text.push_str(", session resumption"),
        (true, true) => text.push_str(", session resumption by ID without tickets"),
    }
    text
}

/// Shows a fixed sequence of requests, which has no tree.
fn sequence(plan: &Plan, out: &mut Lines) {
    out.section("each user, in this order");
    for request in &plan.outline.requests {
        let line = format!("{} {}", request.method, request.path);
        let named = if request.name == line { String::new() } else { format!("  `{}`", request.name) };
        out.line(1, &format!("{line}{named}"));
        for (name, value) in &request.headers {
            out.line(2, &format!("{name}: {value}"));
        }
        if request.body_bytes > 0 {
            out.line(2, &format!("body of {}", bytes(request.body_bytes)));
        }
    }
}

fn script_of(plan: &Plan, script: &Script, out: &mut Lines) {
    if script.cookies {
        out.fact("cookies", "kept per user and sent back");
    }
    for feeder in &script.feeders {
        out.fact("data", &answer::feeder(feeder));
    }
    for file in &script.files {
        out.fact("writes", &format!("`{}`: {}", file.path.display(), file.columns.join(", ")));
    }
    if !script.setup.is_empty() {
        out.section("setup, once before the load");
        steps::show(&script.setup, 1, script, out);
    }
    for (number, scenario) in script.scenarios.iter().enumerate() {
        out.section(&format!("scenario `{}`{}", scenario.name, part_of(number, plan)));
        if let Some(pace) = &scenario.pace {
            out.line(1, &format!("pace {}, from start to start of an iteration", words::delay(pace)));
        }
        steps::show(&scenario.nodes, 1, script, out);
    }
    if !script.teardown.is_empty() {
        out.section("teardown, once after the load");
        steps::show(&script.teardown, 1, script, out);
    }
}

/// Returns the load of a scenario, and its share of that load.
fn part_of(number: usize, plan: &Plan) -> String {
    for (entry, workload) in plan.entries.iter().zip(&plan.outline.workloads) {
        let (ways, order) = match entry {
            Entry::Mix { ways, order } => (ways, order),
            Entry::Scenario(one) if usize::from(*one) == number && plan.outline.workloads.len() > 1 => {
                return format!(", all of `{}`", workload.name);
            }
            Entry::Scenario(_) => continue,
        };
        let total: f64 = ways.iter().map(|(_, weight)| weight).sum();
        if let Some((_, weight)) = ways.iter().find(|(way, _)| usize::from(*way) == number) {
            let mix = match order {
                Order::Random => "random",
                Order::Exact => "exact",
            };
            return format!(", {} of `{}`, {mix} mix", ratio(weight / total), workload.name);
        }
    }
    String::new()
}
