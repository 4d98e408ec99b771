//! A plan as it was understood, as text to be read before the load: every default filled in, every name resolved, no
//! secret shown.

mod answer;
mod load;
mod steps;
pub mod study;
mod words;

use plimsoll_plan::Plan;
use plimsoll_plan::link::{Addresses, Link, Reuse, Tls, Versions};
use plimsoll_plan::script::{Entry, Order, Script};
use words::{Lines, bytes, time};

/// The plan in words; ends with a line end.
pub fn show(plan: &Plan) -> String {
    let outline = &plan.outline;
    let mut out = Lines::default();
    out.fact("experiment", &outline.name);
    if let Some(question) = &outline.question {
        out.fact("question", question);
    }
    if let Some(factor) = outline.scale {
        out.fact("scale", &format!("{factor}: all lengths are multiplied by it, as they stand below"));
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
    out.fact("machine", &machine(plan));
    for threshold in &outline.thresholds {
        let implied = if threshold.is_default { " (unless another is written)" } else { "" };
        out.fact("threshold", &format!("{}{implied}", threshold.text));
    }
    let buckets: Vec<String> = outline.buckets_ns.iter().map(|ns| time(*ns)).collect();
    out.fact("buckets", &buckets.join(", "));
    let timeout = format!("{} from the send", time(outline.timeout_ns));
    out.fact("timeout", &timeout);
    if outline.read_bodies {
        out.fact("bodies", "read by the load generator, not thrown away in the kernel");
    }
    for (name, value) in &outline.system_under_test {
        out.fact("environment", &format!("{name}: {value}"));
    }
    for watch in &outline.monitors {
        let of = if watch.target.is_empty() { "this machine" } else { watch.target.as_str() };
        out.fact("monitor", &format!("`{}`: {} of {of}", watch.name, watch.kind));
    }
    match &plan.script {
        None => sequence(plan, &mut out),
        Some(script) => script_of(plan, script, &mut out),
    }
    out.finish()
}

fn machine(plan: &Plan) -> String {
    let outline = &plan.outline;
    let mut text = format!("{}, seed {}", words::count(u64::from(outline.workers), "worker"), outline.seed);
    if outline.share.of > 1 {
        text.push_str(&format!(", part {} of {}", outline.share.part, outline.share.of));
    }
    text
}

fn connection(link: &Link, plan: &Plan, out: &mut Lines) {
    let reuse = match link.reuse {
        Reuse::User => "each user keeps its own",
        Reuse::Pool => "users share those of their worker",
        Reuse::Iteration => "each iteration begins without one",
        Reuse::Request => "one request each",
    };
    let version = if link.http10 { "HTTP/1.0" } else { "HTTP/1.1" };
    let mut text = format!("{version}, {reuse}");
    if let Some(requests) = link.requests_per_connection {
        text.push_str(&format!(", closed after {}", words::count(u64::from(requests), "request")));
    }
    if link.addresses == Addresses::All {
        text.push_str(", in turns over all addresses of the host");
    }
    out.fact("connection", &text);
    for (host, address) in &link.resolve {
        out.fact("resolve", &format!("{host} is {address}"));
    }
    match link.source_addresses.as_slice() {
        [] => {}
        [one] => out.fact("from", &one.to_string()),
        [first, .., last] => {
            out.fact("from", &format!("{first} to {last}, {} in turns", link.source_addresses.len()));
        }
    }
    if let Some(tls) = &link.tls {
        out.fact("tls", &tls_words(tls, plan));
    }
}

fn tls_words(tls: &Tls, plan: &Plan) -> String {
    let versions = match tls.versions {
        Versions::Both => "1.2 or 1.3",
        Versions::Tls12 => "1.2 alone",
        Versions::Tls13 => "1.3 alone",
    };
    let trust = match (tls.insecure, plan.tls_files.ca.len()) {
        (true, _) => "nothing is verified".to_owned(),
        (false, 0) => "verified by the public authorities".to_owned(),
        (false, files) => format!("verified by {} of own authorities", words::count(files as u64, "file")),
    };
    let mut text = format!("{versions}, {trust}, for `{}`", tls.server_name);
    if plan.tls_files.certificate.is_some() {
        text.push_str(", with a certificate of our own");
    }
    if tls.resume {
        text.push_str(", sessions are resumed");
    }
    text
}

/// A plain sequence, which has no tree.
fn sequence(plan: &Plan, out: &mut Lines) {
    out.section("every user, in this order");
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
        out.section("set-up, once before the load");
        steps::show(&script.setup, 1, script, out);
    }
    for (number, scenario) in script.scenarios.iter().enumerate() {
        out.section(&format!("scenario `{}`{}", scenario.name, part_of(number, plan)));
        if let Some(pace) = &scenario.pace {
            out.line(
                1,
                &format!("an iteration begins at the earliest {} after the one before", words::delay(pace)),
            );
        }
        steps::show(&scenario.nodes, 1, script, out);
    }
    if !script.teardown.is_empty() {
        out.section("tear-down, once behind the load");
        steps::show(&script.teardown, 1, script, out);
    }
}

/// Under which load a scenario runs, and how much of it is its own.
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
            let kept = match order {
                Order::Random => "drawn by weight",
                Order::Exact => "kept exactly",
            };
            return format!(", {:.1}% of `{}`, {kept}", 100.0 * weight / total, workload.name);
        }
    }
    String::new()
}
