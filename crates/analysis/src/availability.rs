//! Outages: periods of at least 1 s with requests but without a success.
//!
//! Users that fail back off, and a request that waits for a response that never arrives is not a sample: five dead
//! seconds vanish from every ratio of requests. Therefore this module examines time, from the last success before to
//! the first success after, which each tick records to the nanosecond ([`Served`]). A period without success is not
//! necessarily an outage: there may have been no requests, the service may be slow, or the load generator may have
//! stalled. An outage requires failures that chance does not explain ([`failing`]), or requests that waited many
//! times longer than before ([`Patience`]).

mod parts;
mod patience;

use super::cells::Cells;
use super::facts::Facts;
use super::spikes::paused_of;
use super::timeline::Moment;
use crate::summary::{Availability, Outage, OutageFailure, PartAvailability, PartKind};
use parts::parts;
use patience::Patience;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunSum, SeriesHist};
use plimsoll_plan::outline::RequestOutline;
use plimsoll_plan::threshold::{OUTAGE_LEAST_NS, Scope};
use plimsoll_record::event::StoppedBy;
use plimsoll_record::record::Served;

/// Number of runs of failures of this length that chance may produce in the whole run, at the share of failures
/// outside of it.
const BY_CHANCE: f64 = 1e-3;
/// Average requests in flight in a second, below which there is hardly any load.
const IDLE: f64 = 0.02;

/// A measured tick, of the service or of a part of it.
#[derive(Debug, Clone, Copy)]
struct Slot {
    from_ns: u64,
    to_ns: u64,
    served: Served,
    /// How many waited for the service, mean; of a part, how many did so from before it.
    waiting: Option<f64>,
    /// How long nearly all answers of this tick took, or the longest gap between events.
    usual_ns: Option<u64>,
    /// The load generator's own.
    stalled_ns: u64,
    /// Most users of a script did not wait for the service: they were thinking.
    is_thinking: bool,
    /// Which moment it is.
    moment: usize,
}

impl Slot {
    fn is_idle(&self) -> bool {
        self.served.finished == 0 && self.served.sent == 0 && self.waiting.is_none_or(|n| n < IDLE)
    }

    /// The requests of another part are looked at together with these.
    fn join(&mut self, other: &Slot) {
        self.served.merge(&other.served);
        self.waiting = self.waiting.zip(other.waiting).map(|(a, b)| a + b);
    }
}

/// A request or an address over time.
struct Part {
    kind: PartKind,
    name: String,
    request: Option<RequestOutline>,
    slots: Vec<Slot>,
    patience: Patience,
}

/// What happened to the service and to its parts, tick by tick.
pub(super) struct ServiceCourse<'a> {
    moments: &'a [Moment],
    slots: Vec<Slot>,
    parts: Vec<Part>,
    pauses: Vec<(f64, f64)>,
    patience: Patience,
    /// Something was measured.
    known: bool,
    users: Option<(u64, u64)>,
}

impl<'a> ServiceCourse<'a> {
    pub fn new(facts: &Facts, moments: &'a [Moment]) -> Self {
        let slots = slots(facts, moments);
        let parts = parts(facts, &slots);
        let begun = facts.run.of(RunSum::UsersActive);
        let users = (begun > 0).then(|| (facts.run.of(RunSum::UsersWithoutSuccess), begun));
        let medians = facts.series.iter().filter(|series| !series.request.is_stream);
        let slowest_ns = medians
            .filter_map(|series| series.tally.hist(SeriesHist::Service).quantile(0.5))
            .max()
            .unwrap_or(0);
        let pauses = paused_by_all(facts);
        let patience = Patience::Service { slowest_ns };
        Self { moments, slots, parts, pauses, patience, known: facts.has_measured(), users }
    }

    pub fn availability(&self) -> Availability {
        let outages = self.outages(&self.slots, &self.patience);
        let requested = || self.slots.iter().filter(|slot| !slot.is_idle() || slot.served.successes() > 0);
        let parts = self.parts.iter().filter_map(|part| self.part(part, &outages)).collect();
        Availability {
            uptime_ratio: self.known.then(|| self.ratio(&outages)),
            intervals_without_success: requested().filter(|slot| slot.served.successes() == 0).count() as u64,
            intervals: requested().count() as u64,
            users_without_success: self.users.map(|(unserved, _)| unserved),
            users: self.users.map(|(_, all)| all),
            longest_outage_ns: longest_ns(&outages),
            measured_ns: self.measured_ns(),
            outages,
            parts,
        }
    }

    /// Availability and longest outage of the requests of a scope, or of the service, its requests and its addresses,
    /// whichever is worst. `None`: nothing was measured.
    pub fn figures(&self, scope: Option<&Scope>, all: &Availability) -> Option<(f64, u64)> {
        let whole = all.uptime_ratio.map(|ratio| (ratio, all.longest_outage_ns))?;
        let worse = |a: (f64, u64), b: (f64, u64)| (a.0.min(b.0), a.1.max(b.1));
        let Some(scope) = scope else {
            let parts = all.parts.iter().map(|part| self.figures_of(&united(&all.outages, &part.outages)));
            return Some(parts.fold(whole, worse));
        };
        let mut covered =
            self.parts.iter().filter(|part| part.request.as_ref().is_some_and(|r| scope.covers(r)));
        let Some(first) = covered.next() else {
            // A plan of one request has no parts, and its scopes cover it.
            return Some(whole).filter(|_| self.parts.is_empty());
        };
        let mut slots = first.slots.clone();
        let mut patience = first.patience.clone();
        for part in covered {
            slots.iter_mut().zip(&part.slots).for_each(|(sum, slot)| sum.join(slot));
            patience.join(&part.patience);
        }
        let is_asked = slots.iter().any(|slot| slot.served.finished > 0 || slot.served.events > 0);
        // While nothing succeeded, these did not either, even where too few of them waited to tell by themselves.
        let outages = united(&all.outages, &self.outages(&slots, &patience));
        is_asked.then(|| self.figures_of(&outages))
    }

    fn figures_of(&self, outages: &[Outage]) -> (f64, u64) {
        (self.ratio(outages), longest_ns(outages))
    }

    /// A part that was down at another time than the service as a whole.
    fn part(&self, part: &Part, whole: &[Outage]) -> Option<PartAvailability> {
        let shared_s = |one: &Outage| -> f64 {
            whole.iter().map(|all| (one.to_s.min(all.to_s) - one.from_s.max(all.from_s)).max(0.0)).sum()
        };
        let least_s = OUTAGE_LEAST_NS as f64 / 1e9;
        let mut outages = self.outages(&part.slots, &part.patience);
        outages.retain(|one| one.to_s - one.from_s - shared_s(one) >= least_s);
        (!outages.is_empty()).then(|| PartAvailability {
            kind: part.kind,
            name: part.name.clone(),
            uptime_ratio: self.ratio(&outages),
            longest_outage_ns: longest_ns(&outages),
            outages,
        })
    }

    fn measured_ns(&self) -> u64 {
        self.slots.iter().map(|slot| slot.to_ns - slot.from_ns).sum()
    }

    fn ratio(&self, outages: &[Outage]) -> f64 {
        let measured_ns = self.measured_ns();
        let down_ns: u64 = outages.iter().map(|outage| outage.length_ns).sum();
        if measured_ns == 0 { 1.0 } else { 1.0 - (down_ns as f64 / measured_ns as f64).min(1.0) }
    }

    fn outages(&self, slots: &[Slot], patience: &Patience) -> Vec<Outage> {
        let mut slots = slots.to_vec();
        let mut all = Vec::new();
        let mut hung = 0;
        for gap in gaps(&slots) {
            let Some(found) = self.outage(&slots, gap, patience, &mut hung) else { continue };
            // Response times of requests that waited for the end of an outage are not usual ones. They finish in its
            // last tick and in the next one.
            let last = (gap.after + 1).min(slots.len() - 1);
            slots[gap.before + 1..=last].iter_mut().for_each(|slot| slot.usual_ns = None);
            all.push(found);
        }
        all
    }

    /// `hung` grows by those that waited in it, if it is one.
    fn outage(&self, slots: &[Slot], gap: Gap, patience: &Patience, hung: &mut u64) -> Option<Outage> {
        let gap = trimmed(slots, gap)?;
        let from_s = gap.from_ns as f64 / 1e9;
        let to_s = gap.to_ns as f64 / 1e9;
        let within = |from: f64, to: f64| ((to_s.min(to) - from_s.max(from)).max(0.0) * 1e9) as u64;
        let paused_ns: u64 = self.pauses.iter().map(|(from, to)| within(*from, *to)).sum();
        let stalled_ns: u64 = slots[gap.before..=gap.after].iter().map(|slot| slot.stalled_ns).sum();
        let length_ns = (gap.to_ns - gap.from_ns).saturating_sub(paused_ns).saturating_sub(stalled_ns);
        if length_ns < OUTAGE_LEAST_NS {
            return None;
        }
        if failing(slots, &gap) {
            let gap = without_thinking(slots, gap);
            if gap.to_ns.saturating_sub(gap.from_ns) < OUTAGE_LEAST_NS {
                return None;
            }
        } else {
            *hung = hung.saturating_add(patience.is_over(slots, &gap, length_ns, *hung)?);
        }
        let failures = match patience {
            Patience::Service { .. } => self.failures(slots, &gap),
            // A moment knows how all of its requests failed.
            Patience::Part { .. } => Vec::new(),
        };
        let failed = (gap.before..=gap.after).map(|at| failed_in(slots, &gap, at)).sum();
        Some(Outage {
            from_s,
            to_s,
            is_open_ended: gap.is_open_ended,
            length_ns,
            failed_requests: failed,
            failures,
        })
    }

    /// How requests failed in it. Of the second in which it began and of that in which it ended, only where something
    /// failed on its side of the success.
    fn failures(&self, slots: &[Slot], gap: &Gap) -> Vec<OutageFailure> {
        let mut all: Vec<OutageFailure> = Vec::new();
        let mut add = |class: Fault, status: Option<u16>, n: u64| match all
            .iter_mut()
            .find(|one| one.class == class && one.status == status)
        {
            Some(one) => one.count = one.count.saturating_add(n),
            None => all.push(OutageFailure { class, status, count: n }),
        };
        let is_told = |at: &usize| failed_in(slots, gap, *at) > 0;
        for moment in (gap.before..=gap.after).filter(is_told).map(|at| &self.moments[slots[at].moment]) {
            for (fault, n) in moment.faults.iter().filter(|(fault, _)| *fault != Fault::Status) {
                add(*fault, None, *n);
            }
            for (status, n) in &moment.failed_statuses {
                add(Fault::Status, Some(*status), *n);
            }
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.count));
        all
    }
}

/// Stretches in which all machines were paused. If one of them sends requests, the service has to respond.
fn paused_by_all(facts: &Facts) -> Vec<(f64, f64)> {
    let mut machines = facts.machines.iter().map(paused_of);
    let first = machines.next().unwrap_or_default();
    machines.fold(first, |all, own| {
        let both = |a: &(f64, f64), b: &(f64, f64)| (a.0.max(b.0), a.1.min(b.1));
        let pairs = all.iter().flat_map(|a| own.iter().map(move |b| both(a, b)));
        pairs.filter(|(from, to)| to > from).collect()
    })
}

/// Of outages of the service and of one of its parts, the times in which one or the other was down.
fn united(whole: &[Outage], part: &[Outage]) -> Vec<Outage> {
    let mut all: Vec<Outage> = whole.iter().chain(part).cloned().collect();
    all.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    all.into_iter().fold(Vec::new(), |mut united, next| {
        match united.last_mut().filter(|last: &&mut Outage| next.from_s <= last.to_s) {
            Some(last) => {
                // Pauses and stalls are left out of both lengths.
                let shared_ns = ((last.to_s.min(next.to_s) - next.from_s).max(0.0) * 1e9) as u64;
                let length_ns = last.length_ns.saturating_add(next.length_ns).saturating_sub(shared_ns);
                last.length_ns = length_ns.max(last.length_ns).max(next.length_ns);
                last.is_open_ended |= next.is_open_ended;
                last.to_s = last.to_s.max(next.to_s);
            }
            None => united.push(next),
        }
        united
    })
}

fn longest_ns(outages: &[Outage]) -> u64 {
    outages.iter().map(|outage| outage.length_ns).max().unwrap_or(0)
}

/// The measured ticks up to the end of the load. No request starts in the grace period after it.
fn slots(facts: &Facts, moments: &[Moment]) -> Vec<Slot> {
    let load_ns = facts.plan.stop.duration_ns.unwrap_or(u64::MAX);
    let workers: u64 = facts.machines.iter().map(|m| u64::from(m.plan().workers.max(1))).sum();
    // Users of a script may be thinking.
    // Nor is a user without work a sign where a number of requests ends the run.
    let is_counted = matches!(facts.stopped_by(), Some(StoppedBy::Requests | StoppedBy::Retired));
    let counts_users = !facts.is_open() && !facts.is_scripted() && !is_counted;
    let measured = moments.iter().enumerate().filter(|(_, m)| !m.second.is_warmup);
    measured
        .filter_map(|(number, m)| {
            let from_ns = (m.second.from_s * 1e9).round() as u64;
            let to_ns = (from_ns + (m.second.length_s * 1e9).round() as u64).min(load_ns);
            let waiting =
                if counts_users { m.second.in_flight.max(m.second.users) } else { m.second.in_flight };
            (to_ns > from_ns).then(|| Slot {
                from_ns,
                to_ns,
                served: m.served,
                waiting: Some(waiting.max(m.second.waiting_peak.unwrap_or(0) as f64)),
                // A request of an open stream waits by design, so only the gaps between events are usual times.
                usual_ns: match facts.has_streams() {
                    true => m.longest_event_gap_ns,
                    false => m.second.p99_ns.filter(|_| m.answered > 0),
                },
                stalled_ns: m.stalled_ns / workers.max(1),
                is_thinking: facts.is_scripted() && m.second.in_flight < m.second.users / 2.0,
                moment: number,
            })
        })
        .collect()
}

/// A stretch without a success, from one to the next.
#[derive(Debug, Clone, Copy)]
struct Gap {
    from_ns: u64,
    to_ns: u64,
    /// The tick of the last success, or the first of all; and that of the next one, or the last of all.
    before: usize,
    after: usize,
    is_open_ended: bool,
}

fn gaps(slots: &[Slot]) -> Vec<Gap> {
    let mut all = Vec::new();
    let mut since: Option<(usize, u64)> = None;
    for (at, slot) in slots.iter().enumerate() {
        // Of ticks that the file does not hold nothing is known.
        let hole = at > 0 && slot.from_ns > slots[at - 1].to_ns;
        if let (true, Some((before, from_ns))) = (hole, since) {
            all.push(Gap { from_ns, to_ns: slots[at - 1].to_ns, before, after: at - 1, is_open_ended: true });
        }
        if hole || since.is_none() {
            since = Some((at, slot.from_ns));
        }
        if slot.served.successes() == 0 {
            continue;
        }
        let first_ns = slot.served.first_success_ns.unwrap_or(slot.from_ns);
        if let Some((before, from_ns)) = since {
            all.push(Gap { from_ns, to_ns: first_ns, before, after: at, is_open_ended: false });
        }
        // Records of early versions lack the time within the tick.
        since = Some((at, slot.served.last_success_ns.unwrap_or(slot.to_ns)));
    }
    if let (Some((before, from_ns)), Some(last)) = (since, slots.last()) {
        all.push(Gap { from_ns, to_ns: last.to_ns, before, after: slots.len() - 1, is_open_ended: true });
    }
    all.retain(|gap| gap.to_ns > gap.from_ns);
    all
}

/// Returns the gap without the ticks at its ends that have no requests. `None` if there were no requests.
fn trimmed(slots: &[Slot], gap: Gap) -> Option<Gap> {
    let mut gap = gap;
    let is_inside = |at: usize| slots[at].served.successes() == 0;
    let inside: Vec<usize> = (gap.before..=gap.after).filter(|at| is_inside(*at)).collect();
    if inside.is_empty() {
        return Some(gap);
    }
    let first = *inside.iter().find(|at| !slots[**at].is_idle())?;
    let last = *inside.iter().rfind(|at| !slots[**at].is_idle())?;
    if Some(&first) != inside.first() {
        gap.from_ns = slots[first].from_ns;
        gap.before = first;
    }
    if Some(&last) != inside.last() {
        gap.to_ns = slots[last].to_ns;
        gap.after = last;
        gap.is_open_ended = false;
    }
    Some(gap)
}

/// Returns the gap without the time before its first and after its last failure if users were thinking then: no request
/// asked the service for anything.
fn without_thinking(slots: &[Slot], gap: Gap) -> Gap {
    let all = || slots[gap.before..=gap.after].iter();
    if !all().all(|slot| slot.is_thinking) {
        return gap;
    }
    let inside = |at: &u64| (gap.from_ns..=gap.to_ns).contains(at);
    let first = all().filter_map(|slot| slot.served.first_failure_ns).filter(inside).min();
    let last = all().filter_map(|slot| slot.served.last_failure_ns).filter(inside).max();
    // A failure took up to this long.
    let usual_ns = all().filter_map(|slot| slot.usual_ns).max().unwrap_or(0);
    Gap {
        from_ns: first.map_or(gap.from_ns, |ns| ns.saturating_sub(usual_ns).max(gap.from_ns)),
        to_ns: last.filter(|_| !gap.is_open_ended).map_or(gap.to_ns, |ns| ns.min(gap.to_ns)),
        ..gap
    }
}

/// What failed in the gap in this tick; where it began or ended in the middle of it, all failures of the tick once one
/// is known to lie inside.
fn failed_in(slots: &[Slot], gap: &Gap, at: usize) -> u64 {
    let served = &slots[at].served;
    let is_inside = served.successes() == 0
        || at == gap.before && served.last_failure_ns.is_some_and(|ns| ns > gap.from_ns)
        || at == gap.after && served.first_failure_ns.is_some_and(|ns| ns < gap.to_ns);
    if is_inside { served.failed } else { 0 }
}

/// Whether this many failures in a row are unlikely to be chance at the share of failures outside of the gap. The
/// rule of succession gives a share even without failures, or without any data, outside.
fn failing(slots: &[Slot], gap: &Gap) -> bool {
    let inside: u64 = (gap.before..=gap.after).map(|at| failed_in(slots, gap, at)).sum();
    let all: u64 = slots.iter().map(|slot| slot.served.finished.saturating_add(slot.served.events)).sum();
    let failed: u64 = slots.iter().map(|slot| slot.served.failed).sum();
    let (outside, failed_outside) = (all.saturating_sub(inside), failed.saturating_sub(inside));
    let share = (failed_outside as f64 + 1.0) / (outside as f64 + 2.0);
    inside > 0 && all as f64 * share.powf(inside as f64) < BY_CHANCE
}
