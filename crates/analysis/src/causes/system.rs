//! What monitors saw at its limit, queues that the kernel dropped from, and memory that grows with the requests.

use super::{Case, is_bad};
use crate::cause::evidence::ResourceKind;
use crate::cause::{Cause, Claim, Evidence, Kind};
use crate::caution;
use crate::watched::{Growth, is_listening, is_thread};

/// The resource that is the bottleneck, and the listen queue.
pub(super) fn saturated(case: &Case) -> Vec<Cause> {
    let s = case.s;
    let mut out = Vec::new();
    for p in s.saturated_resources.iter().take(2) {
        let evidence = |bottleneck| Evidence::Saturated {
            resource_kind: bottleneck,
            resource: p.resource.clone(),
            saturated_ratio: p.saturated_ratio,
            usage_mean_ratio: p.usage_mean_ratio,
            usage_peak_ratio: p.usage_peak_ratio,
            saturation: p.evidence.clone(),
        };
        let cause = if is_listening(&p.kind, &p.metric) {
            Kind::ListenQueueFull.claim(Claim::Certain, evidence(ResourceKind::ListenQueue))
        } else if is_thread(&p.kind, &p.metric) {
            Kind::ThreadSaturated.claim(Claim::Certain, evidence(ResourceKind::Thread))
        } else {
            // A host that both share, and memory that is held by right, limit nothing for certain.
            let is_shared = p.kind == "host" && case.is_local();
            let is_held = ["rss", "heap", "memory"].iter().any(|word| p.metric.contains(word));
            let claim = if is_shared || is_held { Claim::Possible } else { Claim::Certain };
            if claim != Claim::Certain && !is_bad(case) {
                continue;
            }
            Kind::ResourceSaturated.claim(claim, evidence(ResourceKind::Resource))
        };
        out.push(cause);
    }
    // The narrow explains the wide.
    out.sort_by_key(|cause| cause.certainty);
    out.extend(dropped(case));
    out
}

/// Connection attempts that were lost. On one machine nothing but a full queue (or a firewall rule) loses them.
fn dropped(case: &Case) -> Option<Cause> {
    let s = case.s;
    let lost = s.cautions.iter().find(|c| c.kind == caution::Kind::SynRetransmits);
    if let Some(lost) = lost {
        let claim = if case.is_local() { Claim::Certain } else { Claim::Likely };
        return Some(Kind::ListenQueueFull.claim(claim, Evidence::Caution(lost.evidence.clone())));
    }
    let again = case.cautioned(caution::Kind::Retransmits);
    if !again || !(is_bad(case) || s.totals.errors > 0) {
        return None;
    }
    let evidence = Evidence::Resent {
        segments_count: s.client.retransmits,
        requests_count: s.totals.requests,
        slowest_connect_ns: s.phases.connect.max_ns.unwrap_or(0),
    };
    Some(match case.is_local() {
        true => Kind::ListenQueueFull.claim(Claim::Possible, evidence),
        false => Kind::PacketLoss.claim(Claim::Possible, evidence),
    })
}

/// Memory of the service that grows with each request.
pub(super) fn memory(case: &Case) -> Option<Cause> {
    let s = case.s;
    let grown: Option<Growth> = s
        .courses
        .iter()
        .filter_map(|course| Growth::of(course, &s.timeline))
        .max_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let soak = s.cautions.iter().find(|c| c.kind == caution::Kind::MemoryGrowth);
    let Some(grown) = grown else {
        return soak.map(|c| Kind::MemoryLeak.claim(Claim::Likely, Evidence::Caution(c.evidence.clone())));
    };
    let evidence =
        Evidence::Memory { resource: grown.what, growth_bytes: grown.bytes, requests_count: grown.requests };
    let claim = if soak.is_some() { Claim::Likely } else { Claim::Possible };
    Some(Kind::MemoryLeak.claim(claim, evidence))
}
