//! Seals a draft: fills in defaults, finds contradictions, and returns the [`Plan`] or all diagnostics at once.

mod addresses;
mod code;
mod delivery;
mod follow;
pub mod names;
mod requests;
mod route;
mod scripted;
mod secure;
mod shared;
mod workloads;

use crate::diag::Diagnostic;
use crate::draft::{Draft, LoadDraft, key};
use crate::link::Reuse;
use crate::load::{Load, Stop, Workload};
use crate::origin::{self, ORIGINS_MAX};
use crate::outline::{OUTLINE_VERSION, Outline, RequestOutline};
use crate::phrase::{chosen_ns, count, counted};
use crate::request::{redacted_header, redacted_path};
use crate::threshold::{self, Statistic, Subject};
use crate::unit::SECOND_NS;
use crate::watch::Trust;
use crate::{Plan, Request, Target};
use std::sync::Arc;
use workloads::Lanes;

/// Default number of users (closed model).
pub const DEFAULT_USERS: u32 = 50;
/// Default connection limit (open model). Connections are opened only as arrivals need them.
pub const DEFAULT_OPEN_CONNECTIONS: u32 = 1_000;
/// Default duration, without `-d`, `-n`, and `--stages`.
pub const DEFAULT_DURATION_NS: u64 = 10 * SECOND_NS;
/// Default timeout, measured from the send.
pub const DEFAULT_TIMEOUT_NS: u64 = 10 * SECOND_NS;
/// Default upper edges of the latency buckets.
pub const DEFAULT_BANDS_NS: [u64; 3] = [SECOND_NS / 10, SECOND_NS, 10 * SECOND_NS];

/// Properties of the machine that defaults depend on.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// CPUs that this process may use.
    pub cpus: u32,
    /// Seed for a run without one.
    pub seed: u64,
}

/// Validates a draft as a whole.
///
/// # Errors
/// Returns every mistake found, in the order of the fields.
pub fn seal(draft: Draft, machine: Machine) -> Result<Plan, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    contradictions(&draft.load, draft.link.streams, &mut wrong);
    ranges(&draft, &mut wrong);
    shared::check(&draft, &mut wrong);
    route::check(&draft, &mut wrong);
    secure::check(&draft, &mut wrong);
    addresses::check(&draft, &mut wrong);
    requests::check(&draft, &mut wrong);
    code::check(&draft, &mut wrong);
    let draft = delivery::applied(follow::applied(draft), &mut wrong);
    let target = draft.target.clone();
    if target.is_none() && draft.code.is_none() {
        wrong.push(Diagnostic::field(
            "P001",
            key::TARGET,
            "missing target",
            "add a target, such as `http://127.0.0.1:8080/`",
        ));
        return Err(wrong);
    }
    // Code may name any host during the load.
    let mapped = draft.link.resolve.iter().filter(|_| draft.code.is_none());
    for ((host, _), target) in mapped.zip(std::iter::repeat(&target).map_while(Option::as_ref)) {
        let mut loaded = std::iter::once(target).chain(draft.more_origins.iter().map(|more| &more.target));
        if !loaded.any(|target| host.eq_ignore_ascii_case(&target.host)) {
            wrong.push(Diagnostic::field(
                "P025",
                key::TARGET,
                format!("`resolve` names `{host}`, but the target is `{}`", target.host),
                format!("write `{}` in `resolve`, or remove the entry", target.host),
            ));
        }
    }
    if draft.more_origins.len() >= ORIGINS_MAX {
        wrong.push(Diagnostic::field(
            "P026",
            key::TARGET,
            format!("too many origins: {}", draft.more_origins.len() + 1),
            format!("load at most {ORIGINS_MAX} origins in one run"),
        ));
    }
    let asks = draft.script.iter().flat_map(|script| script.asks.iter().map(|ask| ask.origin));
    if let Some(stray) = draft.requests.iter().map(|request| request.origin).chain(asks).max()
        && usize::from(stray) > draft.more_origins.len()
    {
        wrong.push(Diagnostic::field(
            "P027",
            key::REQUESTS,
            format!("unknown origin {stray} in a request"),
            format!("use a number from 0 to {}", draft.more_origins.len()),
        ));
    }
    let Lanes { workloads, entries, recorded, load, duration_ns, graceful_stop_ns } =
        workloads::of(&draft, &mut wrong);
    check_thresholds(&draft, &load, &mut wrong);
    let warmup_ns = draft.warmup_ns.unwrap_or(0);
    // A run without a duration ends at the hard cap.
    if warmup_ns > 0 && warmup_ns >= duration_ns.unwrap_or(u64::MAX).min(draft.limits.duration_ns) {
        wrong.push(Diagnostic::field(
            "P010",
            key::WARMUP,
            "the warm-up lasts as long as the run, so nothing would be measured",
            "write a longer run or a shorter warm-up",
        ));
    }
    let share = draft.shard.unwrap_or_default();
    let connections = workloads.iter().map(|workload| workload.connections).sum();
    // Users are divided among machines, but the connection limit applies to each machine.
    let here_of = |workload: &Workload| match workload.load.is_open() {
        true => workload.connections,
        false => share.count_of(workload.connections),
    };
    let here: u32 = workloads.iter().map(here_of).sum();
    if here == 0 && connections > 0 {
        wrong.push(Diagnostic::field(
            "P019",
            key::SHARD,
            format!(
                "shard {}/{} has no users: the load has only {}",
                share.part,
                share.of,
                counted(u64::from(connections), "user")
            ),
            "use at least as many users as shards",
        ));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let thresholds = match draft.no_default_thresholds {
        true => threshold::without_replaced(draft.thresholds),
        false => threshold::with_defaults(draft.thresholds, load.is_open(), draft.code.is_some()),
    };
    let script = draft.script.map(Arc::new);
    let deliveries = script.as_ref().map(|script| script.deliveries.clone()).unwrap_or_default();
    let (mut requests, checks, groups) = match &script {
        Some(script) => scripted::series_of(script),
        None => (draft.requests.iter().map(outline_of).collect(), Vec::new(), Vec::new()),
    };
    let mut link = draft.link;
    // The TLS settings also apply to monitors, even if no origin uses TLS.
    let watch_trust =
        Trust { ca: draft.tls_files.ca.clone(), insecure: link.tls.as_ref().is_some_and(|tls| tls.insecure) };
    let found_tls = link.tls.take();
    let mut origins = Vec::new();
    if let Some(target) = &target {
        origins = origin::origins(target, &draft.more_origins, found_tls.as_ref());
        link.tls = origins[0].tls.clone();
    }
    if draft.more_origins.is_empty() {
        origins.clear();
    }
    for request in &mut requests {
        if let Some(origin) = origins.get(usize::from(request.origin)) {
            request.tags.retain(|(key, _)| key != origin::ORIGIN_TAG);
            request.tags.push((origin::ORIGIN_TAG.to_owned(), origin.name.clone()));
        }
    }
    let keep_alive = draft.keep_alive.unwrap_or(true) && link.reuse != Reuse::Request;
    if !keep_alive {
        link.reuse = Reuse::Request;
    }
    let default_name = |first: &RequestOutline| {
        let more = match requests.iter().filter(|request| !request.is_outside_load).count() {
            0 | 1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let authority = target.as_ref().map(Target::authority).unwrap_or_default();
        format!("{} {authority}{}{more}", first.method, first.path)
    };
    let outline = Outline {
        version: OUTLINE_VERSION,
        // Named after a request of the load, not of setup.
        name: draft
            .name
            .or_else(|| requests.iter().find(|r| !r.is_outside_load).map(default_name))
            .unwrap_or_default(),
        // Empty if code names all its origins.
        target: target.as_ref().map(Target::authority).unwrap_or_default(),
        port: target.as_ref().map_or(0, |target| target.port),
        host: target.map(|target| target.host).unwrap_or_default(),
        origins,
        requests,
        load,
        stop: Stop { duration_ns, requests: draft.load.requests_total },
        connections,
        // A worker without users would only sleep.
        workers: draft
            .workers
            .unwrap_or_else(|| shared::workers(machine.cpus, here, link.streams))
            .min(here)
            .max(1),
        warmup_ns,
        timeout_ns: draft.timeout_ns.unwrap_or(DEFAULT_TIMEOUT_NS),
        keep_alive,
        read_bodies: draft.read_bodies.unwrap_or(false),
        thresholds,
        buckets_ns: draft.buckets_ns.unwrap_or_else(|| DEFAULT_BANDS_NS.to_vec()),
        share,
        seed: draft.seed.unwrap_or(machine.seed),
        limits: draft.limits,
        checks,
        groups,
        // A fixed sequence has only one load model, `load`.
        workloads: if script.is_some() || draft.code.is_some() { workloads } else { Vec::new() },
        link,
        deliveries,
        graceful_stop_ns,
        cell: None,
        monitors: draft.watches.iter().map(|watch| watch.outline()).collect(),
        system_under_test: draft.system_under_test,
        question: draft.question,
        scale: draft.scale,
    };
    // The requests and checks of code are unknown before it runs.
    let wrong = match &draft.code {
        None => threshold::check_scopes(&outline.thresholds, &outline),
        Some(_) => Vec::new(),
    };
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(Plan {
        outline,
        requests: draft.requests,
        script,
        code: draft.code,
        entries,
        recorded,
        tls_files: draft.tls_files,
        found_tls,
        watch_trust,
        watches: draft.watches,
        health: draft.health,
    })
}

fn contradictions(load: &LoadDraft, streams: u32, wrong: &mut Vec<Diagnostic>) {
    let users_staged = matches!(load.stages, Some((_, false)));
    if load.stages.is_some() && load.rate_per_s.is_some() {
        wrong.push(Diagnostic::field(
            "P002",
            key::STAGES,
            "a constant rate and stages contradict each other",
            "keep one of them (stages of a rate look like `10s:100/s`)",
        ));
    }
    if users_staged && load.users.is_some() {
        wrong.push(Diagnostic::field(
            "P003",
            key::USERS,
            "a number of users and stages of users contradict each other",
            "remove the number of users, because the stages set it",
        ));
    }
    let is_open = workloads::is_open(load);
    if let Some(users) = load.users.filter(|_| is_open) {
        let (other, limited) = match load.rate_per_s {
            Some(_) => ("`-r`", "`-r`"),
            None => ("stages of arrivals", "arrivals"),
        };
        // With streams, the number of connections is lower than that of users.
        let number = if streams == 1 { format!(" {users}") } else { String::new() };
        let hint = format!(
            "keep one of them; to limit the connections of {limited}, write `--max-connections{number}` instead of \
             `-c{number}`"
        );
        let message = format!(
            "`-c` and {other} contradict each other: users (`-c`) wait for responses, arrivals{} do not",
            if load.rate_per_s.is_some() { " (`-r`)" } else { "" }
        );
        wrong.push(Diagnostic::field("P028", key::USERS, message, hint));
    }
    if !is_open && load.max_connections.is_some() {
        wrong.push(Diagnostic::field(
            "P028",
            key::MAX_CONNECTIONS,
            "a connection limit requires a rate: every user has one connection",
            "set the number of users with `-c` (in a file, `users`), or add a rate such as `100/s`",
        ));
    }
    if load.stages.is_some() && load.duration_ns.is_some() {
        wrong.push(Diagnostic::field(
            "P004",
            key::DURATION,
            "a duration and stages contradict each other",
            "remove the duration, because the stages set it",
        ));
    }
    if load.arrivals.is_some() && load.rate_per_s.is_none() && !matches!(load.stages, Some((_, true))) {
        wrong.push(Diagnostic::field(
            "P005",
            key::ARRIVALS,
            "an arrival distribution requires a rate: users have no arrivals",
            "add a rate, such as `100/s`",
        ));
    }
}

fn ranges(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    let load = &draft.load;
    let mut zero = |is_zero: bool, key, what: &str| {
        if is_zero {
            wrong.push(Diagnostic::field(
                "P006",
                key,
                format!("{what} must be above 0"),
                "write a larger value",
            ));
        }
    };
    zero(load.users == Some(0), key::USERS, "the number of users");
    zero(load.max_connections == Some(0), key::MAX_CONNECTIONS, "the connection limit");
    zero(load.duration_ns == Some(0), key::DURATION, "the duration");
    zero(load.requests_total == Some(0), key::TOTAL, "the number of requests");
    zero(draft.workers == Some(0), key::WORKERS, "the number of workers");
    zero(draft.timeout_ns == Some(0), key::TIMEOUT, "the timeout");
    for (number, key) in [(load.users, key::USERS), (load.max_connections, key::MAX_CONNECTIONS)] {
        if number.is_some_and(|c| c > 1_000_000) {
            wrong.push(Diagnostic::field(
                "P007",
                key,
                "more than 1,000,000 connections on one machine",
                "split the load over several machines with `--shard`",
            ));
        }
    }
    if draft.workers.is_some_and(|w| w > 1_024) {
        wrong.push(Diagnostic::field(
            "P007",
            key::WORKERS,
            "more than 1,024 workers",
            "write one worker per CPU core (workers are threads, and `-c` sets the number of users)",
        ));
    }
    if load.requests_total.is_some_and(|n| n > draft.limits.requests) {
        wrong.push(Diagnostic::field(
            "P009",
            key::TOTAL,
            format!("more requests than the hard limit of {}", count(draft.limits.requests)),
            "raise the limit with `--limit requests=N`",
        ));
    }
    let staged = load.stages.as_ref();
    let (given_ns, staged_ns) = (load.duration_ns, staged.map(|(profile, _)| profile.total_ns()));
    for (length_ns, key) in [(given_ns, key::DURATION), (staged_ns, key::STAGES)] {
        if length_ns.is_none_or(|length_ns| length_ns <= draft.limits.duration_ns) {
            continue;
        }
        wrong.push(Diagnostic::field(
            "P009",
            key,
            format!("longer than the hard limit of {}", chosen_ns(draft.limits.duration_ns)),
            "raise the limit with `--limit duration_ns=DURATION`",
        ));
    }
    let staged_of =
        |open| staged.filter(|(_, is_open)| *is_open == open).map_or(0.0, |(profile, _)| profile.peak());
    if staged_of(false) > 1e6 {
        wrong.push(Diagnostic::field(
            "P007",
            key::STAGES,
            "more than 1,000,000 users on one machine",
            "split the load over several machines with `--shard`",
        ));
    }
    if load.rate_per_s.unwrap_or(0.0).max(staged_of(true)) > 1e7 {
        wrong.push(Diagnostic::field(
            "P007",
            if staged.is_some() { key::STAGES } else { key::RATE },
            "more than 10,000,000 arrivals/s on one machine",
            "split the load over several machines with `--shard`",
        ));
    }
    if let Some(buckets) = &draft.buckets_ns
        && (buckets.is_empty() || buckets.len() > 12 || buckets.windows(2).any(|w| w[0] >= w[1]))
    {
        wrong.push(Diagnostic::field(
            "P011",
            key::BUCKETS,
            "bucket edges must be 1–12 durations in ascending order",
            "write edges such as `100ms,1s,10s`",
        ));
    }
}

fn check_thresholds(draft: &Draft, load: &Load, wrong: &mut Vec<Diagnostic>) {
    for threshold in &draft.thresholds {
        if threshold.subject == Subject::Achieved && !load.is_open() {
            wrong.push(Diagnostic::field(
                "P015",
                key::THRESHOLDS,
                format!(
                    "threshold `{}` requires a rate: the closed model has no offered rate",
                    threshold.text
                ),
                "add a rate, such as `100/s`, or remove the threshold",
            ));
        }
        if matches!(threshold.statistic, Statistic::Quantile(q) if q > 0.999_999) {
            wrong.push(Diagnostic::field(
                "P016",
                key::THRESHOLDS,
                format!("threshold `{}` requires more than 10 million samples", threshold.text),
                "use a percentile up to `p99.9999`",
            ));
        }
    }
}

fn outline_of(request: &Request) -> RequestOutline {
    RequestOutline {
        name: request.name.clone(),
        origin: request.origin,
        method: request.method.clone(),
        path: redacted_path(&request.path),
        headers: request.headers.iter().map(|(n, v)| (n.clone(), redacted_header(n, v).to_owned())).collect(),
        body_bytes: request.body.as_ref().map_or(0, |b| b.len() as u64),
        scenario: None,
        group: None,
        tags: Vec::new(),
        is_stream: false,
        is_websocket: false,
        is_grpc: false,
        is_outside_load: false,
        is_redirect_expected: false,
    }
}
