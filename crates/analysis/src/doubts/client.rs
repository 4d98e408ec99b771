//! Limits of this machine: what ran out, and what nearly did.

use super::Inputs;
use crate::caution::Evidence;
use crate::cells::Cells;
use crate::facts::{Machine, ratio, sum_of};
use crate::summary::{Caution, WorkerRow};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::RunSum;
use plimsoll_record::event::Environment;

/// File descriptors in addition to the connections: standard streams, the run file, epoll, and a reserve.
const OTHER_DESCRIPTORS: u64 = 1_024;

/// Each fault on the client's side makes the run inconclusive.
pub(super) fn limits(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(fd_limit(e));
    into.extend(ports(e));
    into.extend(
        hit(e, Fault::ClientOutOfMemory)
            .map(|hit| Evidence::NoMemory { attempts_count: hit.attempts, hosts: hit.hosts() }.raise()),
    );
    into.extend(
        hit(e, Fault::ClientSendRefused)
            .map(|hit| Evidence::SendRefused { attempts_count: hit.attempts, hosts: hit.hosts() }.raise()),
    );
    let cut = hit(e, Fault::ClientLimit);
    into.extend(cut.map(|hit| Evidence::ResponsesCut { responses_count: hit.attempts }.raise()));
    let refused = hit(e, Fault::OriginRefused);
    into.extend(refused.map(|hit| Evidence::OriginsRefused { requests_count: hit.attempts }.raise()));
    let invalid = hit(e, Fault::InvalidRequest);
    into.extend(invalid.map(|hit| Evidence::RequestsInvalid { requests_count: hit.attempts }.raise()));
}

/// The machines on which a fault of the client's side happened.
struct Hit<'a> {
    attempts: u64,
    machines: Vec<&'a Machine<'a>>,
}

fn hit<'a>(e: &'a Inputs, fault: Fault) -> Option<Hit<'a>> {
    let machines: Vec<&Machine> = e.facts.machines.iter().filter(|m| m.all.fault(fault) > 0).collect();
    let attempts = sum_of(machines.iter().map(|m| m.all.fault(fault)));
    (attempts > 0).then_some(Hit { attempts, machines })
}

impl Hit<'_> {
    fn worst(&self, key: impl Fn(&Environment) -> u64) -> Option<&Environment> {
        self.machines.iter().map(|m| &m.opening().environment).min_by_key(|env| key(env))
    }

    fn hosts(&self) -> Vec<String> {
        self.machines.iter().map(|m| m.opening().environment.host.clone()).collect()
    }
}

fn fd_limit(e: &Inputs) -> Option<Caution> {
    let hit = hit(e, Fault::FdLimit)?;
    let env = hit.worst(|env| env.nofile_soft)?;
    let needed = u64::from(e.facts.plan.connections) + OTHER_DESCRIPTORS;
    let evidence = Evidence::NoDescriptors {
        attempts_count: hit.attempts,
        hosts: hit.hosts(),
        soft_limit_count: env.nofile_soft,
        hard_limit_count: env.nofile_hard,
        enough_count: needed.next_power_of_two().max(65_536),
    };
    Some(evidence.raise())
}

fn ports(e: &Inputs) -> Option<Caution> {
    let hit = hit(e, Fault::PortsExhausted)?;
    // An unreadable range is not a range of one port.
    let is_known = |env: &Environment| env.port_high > 0;
    let room = |env: &Environment| (u64::from(env.port_high) + 1).saturating_sub(env.port_low.into());
    let env = hit.worst(|env| if is_known(env) { room(env) } else { u64::MAX })?;
    let evidence = Evidence::NoPorts {
        attempts_count: hit.attempts,
        hosts: hit.hosts(),
        port_range: is_known(env).then_some([env.port_low, env.port_high]),
        keeps_alive: e.facts.plan.keep_alive,
    };
    Some(evidence.raise())
}

/// A stalled load generator looks like a stalled service, because it reads no responses. In the open model its sends
/// are late as well; in the closed model only its own clock shows it.
fn stalled(e: &Inputs) -> Option<Caution> {
    let (times, ns) = (e.facts.run.of(RunSum::Stalls), e.facts.run.of(RunSum::StalledNs));
    let wall_ns: f64 =
        e.facts.machines.iter().flat_map(|m| &m.origin.workers).map(|w| w.wall_ns as f64).sum();
    let share = ratio(ns as f64, wall_ns);
    (share > e.limits.stalled)
        .then(|| Evidence::WorkersStalled { stalls_count: times, stalled_ratio: share.min(1.0) }.raise())
}

/// CPU: how much of it was left. No reason for INCONCLUSIVE by itself.
pub(super) fn room(e: &Inputs, into: &mut Vec<Caution>) {
    let machine = |w: &WorkerRow| (e.facts.machines.len() > 1).then_some(w.generator + 1);
    let workers = &e.client.workers;
    // Spinning is waiting with open eyes and is not counted as busy.
    if let Some(w) = workers.iter().max_by(|a, b| a.busy_ratio.total_cmp(&b.busy_ratio))
        && w.busy_ratio > e.limits.worker_busy
    {
        let evidence =
            Evidence::WorkerBusy { worker: w.worker, machine: machine(w), busy_ratio: w.busy_ratio };
        into.push(evidence.raise());
    }
    if let Some(w) = workers.iter().max_by(|a, b| a.cpu_wait_ratio.total_cmp(&b.cpu_wait_ratio))
        && w.cpu_wait_ratio > e.limits.cpu_wait
    {
        let (worker, cpu_wait_ratio) = (w.worker, w.cpu_wait_ratio);
        into.push(Evidence::WorkerQueued { worker, machine: machine(w), cpu_wait_ratio }.raise());
    }
    into.extend(stalled(e));
    if e.client.steal_ratio > e.limits.steal {
        into.push(Evidence::CpuStolen { steal_ratio: e.client.steal_ratio }.raise());
    }
    if let Some(env) =
        e.facts.machines.iter().map(|m| &m.opening().environment).find(|env| env.is_same_machine)
    {
        let address = env.addresses.first().map_or(e.facts.plan.target.as_str(), |a| a.as_str());
        into.push(Evidence::LocalTarget { address: address.to_owned() }.raise());
    }
    if let Some(tls) = e.facts.plan.tls().filter(|tls| tls.insecure) {
        into.push(Evidence::AnyCertificate { server_name: tls.server_name.to_string() }.raise());
    }
}
