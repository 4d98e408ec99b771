//! A plan as a [`Draft`]: its thread groups as workloads. The users are code that the caller adds.

use crate::code;
use crate::evaluate::Known;
use crate::place::Files;
use crate::plan::{Group, GroupLoad, Node, NodeKind, Phase, Proxy, Sampler, SamplerKind, TestPlan, Threads};
use plimsoll_plan::draft::{Draft, LoadDraft, WorkloadDraft};
use plimsoll_plan::link::{Http, Link, Reuse, Tls};
use plimsoll_plan::load::{Arrivals, Rules};
use plimsoll_plan::script::Entry;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Problem};

/// The timeout of a request without one. JMeter waits for ever.
const TIMEOUT_NS: u64 = 3_600 * SECOND_NS;

/// How long samples that have begun may continue after the end of their group. JMeter waits for ever.
const GRACEFUL_STOP_NS: u64 = 60 * SECOND_NS;

/// The most threads of a group with arrivals and no limit.
const ARRIVAL_THREADS: u32 = 10_000;

/// Builds the draft of a plan. Workload i runs the i-th main group of the plan.
///
/// # Errors
/// Returns an error if the groups contradict each other, or if plimsoll does not support their combination.
pub fn draft(plan: &TestPlan, files: &Files) -> Result<Draft, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let groups: Vec<&Group> = plan.groups.iter().filter(|group| group.phase == Phase::Main).collect();
    let Some(first) = groups.first() else {
        let problem = Problem::new("the plan has no enabled thread group", "enable one in JMeter");
        return Err(vec![Diagnostic::of(code::EMPTY, plimsoll_plan::diag::Place::Whole, problem)]);
    };
    let mut count = 0;
    plan.groups.iter().for_each(|group| samplers(&group.nodes, &mut |_| count += 1));
    if count == 0 {
        let problem = Problem::new("the plan has no enabled sampler", "enable one in JMeter");
        return Err(vec![Diagnostic::of(code::EMPTY, files.place(first.info.pos), problem)]);
    }
    let mut draft = Draft::default();
    for (number, group) in (0u16..).zip(&groups) {
        if group.is_same_user != first.is_same_user {
            let problem = Problem::new(
                "`Same user on each iteration` differs between thread groups, which is not supported",
                "select the same for all of them",
            );
            wrong.push(Diagnostic::of(code::SETTING, files.place(group.info.pos), problem));
        }
        let is_bounded =
            matches!(&group.load, GroupLoad::Threads(Threads { loops: Some(_), duration_ns: None, .. }));
        if plan.is_serial && groups.len() > 1 && !is_bounded {
            let problem = Problem::new(
                format!("`{}` has no end by its loops, and thread groups run one after another", group.title),
                "run all thread groups at the same time, or each in a separate run",
            );
            wrong.push(Diagnostic::of(code::SETTING, files.place(group.info.pos), problem));
        }
        let mut workload = workload(number, group);
        if plan.is_serial && number > 0 {
            // Its threads themselves wait for the groups before, and for their own start.
            (workload.load.ramp_up_ns, workload.start_ns) = (0, 0);
        }
        draft.workloads.push(workload);
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    draft.name = Some(plan.name.clone()).filter(|name| !name.is_empty());
    draft.timeout_ns = Some(TIMEOUT_NS);
    draft.graceful_stop_ns = Some(GRACEFUL_STOP_NS);
    if let Some(ms) = connect_timeout_ms(plan) {
        draft.limits.connect_timeout_ns = ms.saturating_mul(1_000_000);
    }
    draft.tls_files = plan.tls_files.clone();
    draft.link = link(plan, first, files).map_err(|problem| vec![problem])?;
    Ok(draft)
}

/// Returns the workload of a group.
fn workload(number: u16, group: &Group) -> WorkloadDraft {
    let rules = Rules { graceful_stop_ns: Some(GRACEFUL_STOP_NS), ..Rules::default() };
    let base = LoadDraft { rules, ..LoadDraft::default() };
    let (load, start_ns) = match &group.load {
        GroupLoad::Threads(Threads { threads, ramp_up_ns, loops, delay_ns, duration_ns }) => {
            let duration_ns = match (loops, duration_ns) {
                // Until the user stops it, or the hard limit of a run.
                (None, None) => Some(plimsoll_plan::limit::Limits::default().duration_ns),
                (_, duration_ns) => *duration_ns,
            };
            let load = LoadDraft {
                users: Some(*threads),
                ramp_up_ns: *ramp_up_ns,
                iterations_per_user: *loops,
                duration_ns,
                ..base
            };
            (load, *delay_ns)
        }
        GroupLoad::Profile { users, loops } => {
            (LoadDraft { stages: Some((users.clone(), false)), iterations_per_user: *loops, ..base }, 0)
        }
        GroupLoad::Arrivals { rate_per_s, is_random, limit } => {
            let load = LoadDraft {
                stages: Some((rate_per_s.clone(), true)),
                arrivals: is_random.then_some(Arrivals::Poisson),
                max_connections: Some(limit.unwrap_or(ARRIVAL_THREADS)),
                ..base
            };
            (load, 0)
        }
    };
    WorkloadDraft { name: group.title.clone(), entry: Entry::Scenario(number), load, start_ns }
}

fn link(plan: &TestPlan, first: &Group, files: &Files) -> Result<Link, Diagnostic> {
    // JMeter trusts every certificate.
    let tls = Tls { insecure: true, ..Tls::default() };
    let reuse = if first.is_same_user { Reuse::User } else { Reuse::Iteration };
    let mut link = Link { reuse, http: Http::V11, tls: Some(tls), ..Link::default() };
    link.route.proxy = proxy(plan, files)?;
    let mut managers = Vec::new();
    for group in &plan.groups {
        samplers(&group.nodes, &mut |sampler| managers.extend(sampler.scope.dns.clone()));
    }
    for manager in managers {
        for host in &manager.kind.hosts {
            let (Some(name), Some(addresses)) = (host.name.fixed(), host.addresses.fixed()) else {
                let problem = Problem::new(
                    format!(
                        "the address of `{}` depends on variables, which is not supported",
                        host.name.source
                    ),
                    "write it as a number",
                );
                return Err(Diagnostic::of(code::SETTING, files.place(host.addresses.pos), problem));
            };
            let Some(Ok(address)) = addresses.split(',').next().map(|one| one.trim().parse()) else {
                let problem = Problem::new(
                    format!("`{addresses}` is not an IP address"),
                    "write the address of the host as a number",
                );
                return Err(Diagnostic::of(code::SETTING, files.place(host.addresses.pos), problem));
            };
            if !link.resolve.iter().any(|(known, _)| known == name) {
                link.resolve.push((name.to_owned(), address));
            }
        }
    }
    Ok(link)
}

/// Returns the proxy of all requests. One proxy for some of them is an error: connections have one way.
fn proxy(plan: &TestPlan, files: &Files) -> Result<Option<plimsoll_plan::route::Proxy>, Diagnostic> {
    let mut all: Vec<Option<Proxy>> = Vec::new();
    for group in &plan.groups {
        samplers(&group.nodes, &mut |sampler| {
            if let SamplerKind::Http(http) = &sampler.kind {
                all.push(http.proxy.clone());
            }
        });
    }
    let Some(proxy) = all.iter().flatten().next() else { return Ok(None) };
    let problem = match all.iter().all(|one| one.as_ref().is_some_and(|one| one.url == proxy.url)) {
        true => match plimsoll_plan::route::proxy(&proxy.url) {
            Ok(proxy) => return Ok(Some(proxy)),
            Err(problem) => problem,
        },
        false => Problem::new(
            format!("the proxies of requests differ, which is not supported ({})", proxy.path),
            "set the same proxy for all of them in HTTP Request Defaults, or none and run with `--proxy`",
        ),
    };
    Err(Diagnostic::of(code::SETTING, files.place(proxy.pos), problem))
}

/// Returns the largest connect timeout of the requests, which applies to all of them; `None`: none has one.
fn connect_timeout_ms(plan: &TestPlan) -> Option<u64> {
    let known = Known::new(plan.properties.clone(), &plan.variables);
    let mut largest = None;
    for group in &plan.groups {
        samplers(&group.nodes, &mut |sampler| {
            if let SamplerKind::Http(http) = &sampler.kind {
                let ms = known.value(&http.connect_timeout_ms).ok().and_then(|text| text.trim().parse().ok());
                largest = largest.max(ms.filter(|ms: &u64| *ms > 0));
            }
        });
    }
    largest
}

/// Calls `visit` for each sampler.
fn samplers(nodes: &[Node], visit: &mut impl FnMut(&Sampler)) {
    for node in nodes {
        match &node.kind {
            NodeKind::Sampler(sampler) => visit(sampler),
            NodeKind::Controller { nodes, .. } => samplers(nodes, visit),
        }
    }
}
