//! Cautions in text outputs, and findings on a page: grouped by system under test, plan, and load generator, together
//! with other findings. Each has its evidence, its advice, and a link to the data.

use super::anchors::Anchors;
use crate::anchor::Anchor;
use crate::document::{Block, Finding, Findings, Form, On, Role, Section, Sentence, Tone};
use crate::format::{chosen_s, count, counted, duration_ns};
use crate::next::{relief, with_load};
use crate::words;
use plimsoll_analysis::caution::{Kind, Set};
use plimsoll_analysis::next::{Next, Reason};
use plimsoll_analysis::summary::{Caution, SaturatedResource, SlopeVerdict, Spike, Summary};

use Set::{Generator, Plan, System};

const COURSE: &[Anchor] = &[Anchor::Timeline, Anchor::Times];
const SPECTRUM: &[Anchor] = &[Anchor::Spectrum, Anchor::Times];
const SCHEDULE_LAG: &[Anchor] = &[Anchor::Timeline, Anchor::Generator];
const BOX: &[Anchor] = &[Anchor::Generator];
const LINKS: &[Anchor] = &[Anchor::Connections];
const WATCHED: &[Anchor] = &[Anchor::System, Anchor::Generator];
const REQUESTS: &[Anchor] = &[Anchor::Requests, Anchor::Times];
const MACHINES: &[Anchor] = &[Anchor::Machines, Anchor::Generator];
const METHOD: &[Anchor] = &[Anchor::Method];

/// Returns the place that shows a caution: the first of these anchors that the page has.
const fn wanted(kind: Kind) -> &'static [Anchor] {
    match kind {
        Kind::ClientFdLimit
        | Kind::ClientPortsExhausted
        | Kind::ClientOutOfMemory
        | Kind::ClientSendRefused
        | Kind::ClientLimit
        | Kind::OriginRefused
        | Kind::InvalidRequest
        | Kind::LowEphemeralPorts
        | Kind::LittlesLaw
        | Kind::ClientCpuSaturated
        | Kind::ClientCpuWait
        | Kind::CpuSteal
        | Kind::SameMachine
        | Kind::CertificateNotVerified => BOX,
        Kind::ClientStalled | Kind::LateSends => SCHEDULE_LAG,
        Kind::IncompleteRecord
        | Kind::OfferedRateMissed
        | Kind::LoadChangedManually
        | Kind::BacklogGrew
        | Kind::UnsteadyStart
        | Kind::ThunderingHerd
        | Kind::NetworkSaturated
        | Kind::ConnectionLimitReached
        | Kind::Retransmits
        | Kind::ShortRun
        | Kind::DataExhausted
        | Kind::StoppedEarly => COURSE,
        Kind::TooFewSamples
        | Kind::CensoredByTimeouts
        | Kind::CoordinatedOmission
        | Kind::MeanAboveP95
        | Kind::CensoredAtEnd
        | Kind::RttBound => SPECTRUM,
        Kind::SynRetransmits
        | Kind::ConnectionsUnfair
        | Kind::ConnectionsNotReused
        | Kind::StaleConnections
        | Kind::RequestsUnprocessed
        | Kind::StreamLimitReached
        | Kind::UnexpectedBytes => LINKS,
        Kind::ListenQueueOverflow
        | Kind::ProcessFdLimit
        | Kind::CpuThrottled
        | Kind::MonitorFailed
        | Kind::MemoryGrowth => WATCHED,
        Kind::ResponseChanged
        | Kind::RedirectsNotFollowed
        | Kind::EventStreamsAsResponses
        | Kind::IterationsAbandoned => REQUESTS,
        Kind::MergedRunsNotConcurrent | Kind::MergedTargetsDiffer => MACHINES,
        Kind::NoRequests | Kind::RowsNotWritten | Kind::TooManySeries | Kind::ValuesRejected => METHOD,
    }
}

/// In the default view: cautions about the service and the plan. Those about the load generator are in its section.
pub fn screen(s: &Summary, anchors: &Anchors) -> Section {
    let doubts = doubts(s);
    let is_other = |c: &&Caution| c.kind.set() != Generator && !doubts.contains(&c.kind);
    let all = sorted(s).filter(is_other).map(|c| caution(c, anchors)).collect();
    let blocks = vec![Block::Findings(Findings { form: Form::Doubt, all })];
    Section::new("cautions", "Cautions", blocks).indented().only(On::SCREEN)
}

/// In the default view: cautions about the load generator.
pub fn of_generator(s: &Summary, anchors: &Anchors) -> Block {
    let doubts = doubts(s);
    let is_own = |c: &&Caution| c.kind.set() == Generator && !doubts.contains(&c.kind);
    let all = sorted(s).filter(is_own).map(|c| caution(c, anchors)).collect();
    Block::Findings(Findings { form: Form::Doubt, all })
}

/// Returns the cautions that `Why` already contains.
fn doubts(s: &Summary) -> Vec<Kind> {
    let of = |reason: &Reason| match reason {
        Reason::Doubt { caution, .. } => Some(*caution),
        _ => None,
    };
    Next::of(s).reasons.iter().filter_map(of).collect()
}

/// Returns all cautions.
pub fn section(s: &Summary, anchors: &Anchors) -> Section {
    let all = sorted(s).map(|c| caution(c, anchors)).collect();
    let blocks = vec![Block::Findings(Findings { form: Form::Doubt, all })];
    Section::new("cautions", "Cautions", blocks).indented().only(On::UNABRIDGED)
}

pub fn findings(s: &Summary, anchors: &Anchors) -> Section {
    let mut all: Vec<(Set, Finding)> = sorted(s).map(|c| (c.kind.set(), caution(c, anchors))).collect();
    let found = failures(s).into_iter().chain(pressures(s, anchors)).chain(slopes(s, anchors));
    // Findings that are not cautions belong to the results.
    all.extend(found.chain(spikes(s, anchors)).map(|finding| (System, finding)));
    let limiting = s.bottleneck.iter();
    let mut blocks: Vec<Block> = limiting
        .map(|what| Block::Sentence(Sentence::new(Role::Lead, "Bottleneck: ").strong(what, "")))
        .collect();
    for (title, set) in [("System under test", System), ("Plan", Plan), ("Load generator", Generator)] {
        let all: Vec<Finding> = all.extract_if(.., |(its, _)| *its == set).map(|(_, one)| one).collect();
        if !all.is_empty() {
            let found = Block::Findings(Findings { form: Form::Doubt, all });
            blocks.extend([Block::Heading(title.into()), found]);
        }
    }
    Section::new("findings", "Findings", blocks)
}

/// Sorts by severity; equal ones stay in the order in which they were raised.
fn sorted(s: &Summary) -> impl Iterator<Item = &Caution> {
    let mut all: Vec<&Caution> = s.cautions.iter().collect();
    all.sort_by_key(|c| c.severity);
    all.into_iter()
}

fn caution(c: &Caution, anchors: &Anchors) -> Finding {
    Finding {
        code: c.kind.code().into(),
        evidence: vec![format!("{}; {}", c.evidence_text(), c.impact())],
        advice: c.advice(),
        link: link(anchors, wanted(c.kind)),
        ..Finding::new(c.severity.into(), words::weight(c.severity), c.title())
    }
}

/// Returns the name of a link to an anchor.
fn link(anchors: &Anchors, wanted: &[Anchor]) -> Option<(String, &'static str)> {
    let anchor = anchors.first(wanted)?;
    Some((anchor.id().to_owned(), anchor.noun()))
}

/// Maximum number of findings of one kind; the table has more.
const TOLD: usize = 5;

/// Advice for each kind of finding: what to check next, without guessing the cause.
const LONGER: &str = "run longer: if it continues, look for what is retained and never released";
const FALLS: &str = "no action: it releases memory; start runs for comparison when the level is steady";
const ROSE: &str =
    "check what is saturated since then, and find the load that it still serves: `plimsoll find`";
const MOMENT: &str = "check the server's log and monitors at that time: garbage collection, a background job, or a \
    deployment";
const READ: &str = "read the failure examples, and the server's log for the first one";
const ANSWERS: &str = "read the failure examples, and the server's log for the first one; until it succeeds, its times \
    mean little";

/// Returns classes and statuses of the failures, the most frequent first; `None` without failures.
fn failures(s: &Summary) -> Option<Finding> {
    let failed = s.totals.errors;
    if failed == 0 {
        return None;
    }
    let mut classes: Vec<_> = s.errors.iter().filter(|row| row.count > 0).collect();
    classes.sort_by_key(|row| std::cmp::Reverse(row.count));
    let told: Vec<String> =
        classes.iter().take(TOLD).map(|row| format!("{} {}", count(row.count), row.class.name())).collect();
    let mut statuses: Vec<_> =
        s.status_codes.iter().filter(|(status, _)| status.starts_with(['4', '5'])).collect();
    statuses.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let codes: Vec<String> =
        statuses.iter().take(TOLD).map(|(status, n)| format!("{} of status {status}", count(**n))).collect();
    let title = format!("{} of {} failed", counted(failed, "request"), count(s.totals.requests));
    // 1% may be intended by the plan; more is raised as a caution.
    let tone = if failed * 100 > s.totals.requests { Tone::Doubt } else { Tone::Note };
    let advice = if failed * 2 > s.totals.requests { ANSWERS } else { READ };
    Some(Finding {
        evidence: vec![[told, codes].concat().join(", ")],
        advice: advice.into(),
        link: Some(("errors".to_owned(), "the errors")),
        ..Finding::new(tone, "errors", title)
    })
}

fn pressures(s: &Summary, anchors: &Anchors) -> Vec<Finding> {
    let one = |p: &SaturatedResource| Finding {
        evidence: vec![p.evidence.text()],
        advice: relief(p).into(),
        link: link(anchors, WATCHED),
        ..Finding::new(Tone::Doubt, "saturated", &p.resource)
    };
    s.saturated_resources.iter().take(TOLD).map(one).collect()
}

fn slopes(s: &Summary, anchors: &Anchors) -> Vec<Finding> {
    let rows = s.monitors.iter().flat_map(|monitor| monitor.rows.iter().map(move |row| (monitor, row)));
    let moving = rows.filter_map(|(monitor, row)| {
        let slope = row.slope.as_ref().filter(|slope| slope.verdict != SlopeVerdict::Level)?;
        let advice = if slope.verdict == SlopeVerdict::Falls { FALLS } else { LONGER };
        Some(Finding {
            evidence: vec![slope.sentence.clone()],
            advice: advice.into(),
            link: link(anchors, WATCHED),
            ..Finding::new(Tone::Note, "slope", crate::watched::named(monitor, row))
        })
    });
    moving.take(TOLD).collect()
}

fn spikes(s: &Summary, anchors: &Anchors) -> Vec<Finding> {
    let one = |spike: &Spike| {
        let back = words::back(spike);
        let title = format!("slow at {} for {}", chosen_s(spike.from_s), chosen_s(spike.slow_s));
        let (peak, baseline) = (duration_ns(spike.peak_p95_ns), duration_ns(spike.baseline_p95_ns));
        let rose = with_load(s, spike);
        let advice = if rose.is_some() { ROSE } else { MOMENT };
        let began = rose.map_or(String::new(), |rose| format!("; it started {rose}"));
        Finding {
            evidence: vec![format!("p95 {peak} (baseline {baseline}), {back}{began}")],
            advice: advice.into(),
            link: link(anchors, COURSE),
            ..Finding::new(Tone::Doubt, "spike", title)
        }
    };
    let mut all: Vec<Finding> = s.spikes.iter().take(TOLD).map(one).collect();
    if s.spikes.len() > TOLD {
        let title = format!("and {} more spikes", s.spikes.len() - TOLD);
        all.push(Finding { link: link(anchors, COURSE), ..Finding::new(Tone::Note, "spike", title) });
    }
    all
}
