//! Limits of this machine: what ran out, and what nearly did.

use super::Evidence;
use crate::caution::Kind;
use crate::cells::Cells;
use crate::facts::{Machine, ratio, sum_of};
use crate::summary::{Caution, WorkerRow};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::phrase::{count, counted, ratio as percent};
use plimsoll_record::event::Environment;

/// Descriptors beside the connections: standard streams, the run file, epoll and a reserve.
const OTHER_DESCRIPTORS: u64 = 1_024;
/// What the kernel keeps for programs that listen begins below this.
const FIRST_PORT: u16 = 1_024;

/// Each fault on the client's side makes the run inconclusive.
pub(super) fn limits(e: &Evidence, into: &mut Vec<Caution>) {
    into.extend(fd_limit(e));
    into.extend(ports(e));
    for (fault, kind) in
        [(Fault::ClientMemory, Kind::ClientMemory), (Fault::ClientOther, Kind::ClientBlocked)]
    {
        into.extend(hit(e, fault).map(|hit| kind.raise(hit.evidence("failed", None))));
    }
    into.extend(hit(e, Fault::ClientLimit).map(|hit| {
        let cut = if hit.attempts == 1 { "response was" } else { "responses were" };
        Kind::ClientLimit.raise(format!("{} {cut} longer than a limit", count(hit.attempts)))
    }));
}

/// The machines on which a fault of the client's side happened.
struct Hit<'a> {
    attempts: u64,
    machines: Vec<&'a Machine<'a>>,
}

fn hit<'a>(e: &'a Evidence, fault: Fault) -> Option<Hit<'a>> {
    let machines: Vec<&Machine> = e.facts.machines.iter().filter(|m| m.all.fault(fault) > 0).collect();
    let attempts = sum_of(machines.iter().map(|m| m.all.fault(fault)));
    (attempts > 0).then_some(Hit { attempts, machines })
}

impl Hit<'_> {
    fn worst(&self, key: impl Fn(&Environment) -> u64) -> Option<&Environment> {
        self.machines.iter().map(|m| &m.opening().environment).min_by_key(|env| key(env))
    }

    /// `44 attempts found none free on a, b; soft limit 256`
    fn evidence(&self, what: &str, facts: Option<String>) -> String {
        let hosts: Vec<&str> = self.machines.iter().map(|m| m.opening().environment.host.as_str()).collect();
        let on = if hosts.len() > 1 { format!(" on {}", hosts.join(", ")) } else { String::new() };
        let facts = facts.map_or_else(String::new, |facts| format!("; {facts}"));
        format!("{} {what}{on}{facts}", counted(self.attempts, "attempt"))
    }
}

fn fd_limit(e: &Evidence) -> Option<Caution> {
    let hit = hit(e, Fault::FdLimit)?;
    let env = hit.worst(|env| env.nofile_soft)?;
    let facts = format!("soft limit {}, hard limit {}", count(env.nofile_soft), count(env.nofile_hard));
    let mut caution = Kind::ClientFdLimit.raise(hit.evidence("found none free", Some(facts)));
    if env.nofile_soft < env.nofile_hard {
        // Everything up to the hard limit was taken, unless the plan wants less.
        caution.advice = format!(
            "leave the limit `descriptors` out of the plan: {} are to be had",
            count(env.nofile_hard)
        );
        return Some(caution);
    }
    let need = (u64::from(e.facts.plan.connections) + OTHER_DESCRIPTORS).next_power_of_two().max(65_536);
    caution.advice = format!(
        "raise the hard limit: `ulimit -Hn {need}` as root, or `LimitNOFILE={need}` in a systemd unit; or use fewer \
         connections than {}",
        count(env.nofile_soft)
    );
    Some(caution)
}

fn ports(e: &Evidence) -> Option<Caution> {
    let hit = hit(e, Fault::PortsExhausted)?;
    // What nobody could read is no range of one port.
    let is_known = |env: &Environment| env.port_high > 0;
    let room = |env: &Environment| (u64::from(env.port_high) + 1).saturating_sub(env.port_low.into());
    let env = hit.worst(|env| if is_known(env) { room(env) } else { u64::MAX })?;
    // Port numbers are names, not amounts: no commas.
    let facts = match is_known(env) {
        true => format!("range {}-{}, {}", env.port_low, env.port_high, counted(room(env), "port")),
        false => "the range of this machine is not known".to_owned(),
    };
    let mut caution = Kind::ClientPortsExhausted.raise(hit.evidence("found none free", Some(facts)));
    let mut ways = Vec::new();
    if !e.facts.plan.keep_alive {
        ways.push(
            "keep connections open (drop `--no-keepalive`): each closed one blocks its port for a minute"
                .to_owned(),
        );
    }
    if env.port_low > FIRST_PORT || env.port_high < u16::MAX {
        ways.push(Kind::ClientPortsExhausted.advice().to_owned());
    }
    ways.push("or share the load between machines with `--share`".to_owned());
    caution.advice = ways.join("; ").trim_start_matches("or ").to_owned();
    Some(caution)
}

/// A stopped generator looks like a stopped service: nothing is answered while nobody looks. In the open model its
/// sends are late as well; in the closed model only its own clock tells.
fn stalled(e: &Evidence) -> Option<Caution> {
    let (times, ns) = (e.facts.run.of(RunSum::Stalls), e.facts.run.of(RunSum::StalledNs));
    let wall_ns: f64 =
        e.facts.machines.iter().flat_map(|m| &m.origin.workers).map(|w| w.wall_ns as f64).sum();
    let share = ratio(ns as f64, wall_ns);
    (share > e.limits.stalled).then(|| {
        Kind::ClientStalled.raise(format!(
            "workers stood still {} for more than 100 ms each, {} of their time; what the service did meanwhile was \
             not seen",
            counted(times, "time"),
            percent(share.min(1.0))
        ))
    })
}

/// CPU: how much of it was left. No reason for INCONCLUSIVE by itself.
pub(super) fn room(e: &Evidence, into: &mut Vec<Caution>) {
    let named = |w: &WorkerRow| match e.facts.machines.len() {
        0 | 1 => format!("worker {}", w.worker),
        _ => format!("worker {} of machine {}", w.worker, w.origin + 1),
    };
    let workers = &e.client.workers;
    // Spinning is waiting with open eyes and is not counted as busy.
    if let Some(w) = workers.iter().max_by(|a, b| a.busy_ratio.total_cmp(&b.busy_ratio))
        && w.busy_ratio > e.limits.worker_busy
    {
        into.push(Kind::ClientCpu.raise(format!(
            "{} was busy {} of the time, spinning not counted",
            named(w),
            percent(w.busy_ratio)
        )));
    }
    if let Some(w) = workers.iter().max_by(|a, b| a.run_queue_ratio.total_cmp(&b.run_queue_ratio))
        && w.run_queue_ratio > e.limits.run_queue
    {
        into.push(Kind::RunQueue.raise(format!(
            "{} was ready to run but without a CPU {} of the time",
            named(w),
            percent(w.run_queue_ratio)
        )));
    }
    into.extend(stalled(e));
    if e.client.steal_ratio > e.limits.steal {
        into.push(
            Kind::Steal
                .raise(format!("{} of all CPU time was taken by the host", percent(e.client.steal_ratio))),
        );
    }
    if let Some(env) = e.facts.machines.iter().map(|m| &m.opening().environment).find(|env| env.same_machine)
    {
        let address = env.addresses.first().map_or(e.facts.plan.target.as_str(), |a| a.as_str());
        into.push(Kind::SameMachine.raise(format!("{address} belongs to this machine")));
    }
    if let Some(tls) = e.facts.plan.tls().filter(|tls| tls.insecure) {
        into.push(
            Kind::CertificateUnchecked.raise(format!("any certificate was taken for {}", tls.server_name)),
        );
    }
}
