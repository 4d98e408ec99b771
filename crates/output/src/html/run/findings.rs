//! Findings, by what they are about: the system under test, the plan, the load generator. Each with its evidence, what
//! to do, and a way to what shows it.

use super::Anchors;
use crate::anchor::Anchor;
use crate::format::{chosen_s, count, counted, duration_ns};
use crate::html::piece::{Finding, Tone, findings};
use crate::next::{relief, with_load};
use crate::words;
use maud::{Markup, html};
use plimsoll_analysis::caution::{Kind, Set};
use plimsoll_analysis::summary::{Caution, SlopeVerdict, Summary};

use Set::{Generator, Plan, System};

const COURSE: &[Anchor] = &[Anchor::Timeline, Anchor::Times];
const SPECTRUM: &[Anchor] = &[Anchor::Spectrum, Anchor::Times];
const LATENESS: &[Anchor] = &[Anchor::Timeline, Anchor::Generator];
const BOX: &[Anchor] = &[Anchor::Generator];
const LINKS: &[Anchor] = &[Anchor::Connections];
const WATCHED: &[Anchor] = &[Anchor::System, Anchor::Generator];
const REQUESTS: &[Anchor] = &[Anchor::Requests, Anchor::Times];
const MACHINES: &[Anchor] = &[Anchor::Machines, Anchor::Generator];
const METHOD: &[Anchor] = &[Anchor::Method];

/// What shows a caution: the first of these anchors that the page has.
const fn wanted(kind: Kind) -> &'static [Anchor] {
    match kind {
        Kind::ClientFdLimit
        | Kind::ClientPortsExhausted
        | Kind::ClientMemory
        | Kind::ClientBlocked
        | Kind::ClientLimit
        | Kind::FewPortsLeft
        | Kind::LittlesLaw
        | Kind::ClientCpu
        | Kind::RunQueue
        | Kind::Steal
        | Kind::SameMachine
        | Kind::CertificateUnchecked => BOX,
        Kind::ClientStalled | Kind::LateSends => LATENESS,
        Kind::MissingIntervals
        | Kind::OfferedNotSent
        | Kind::SteeredByHand
        | Kind::BacklogGrew
        | Kind::NotSteady
        | Kind::AllAtOnce
        | Kind::LinkFull
        | Kind::ConnectionCapHit
        | Kind::Retransmits
        | Kind::ShortRun
        | Kind::DataRanOut
        | Kind::Interrupted => COURSE,
        Kind::TooFewSamples
        | Kind::TimeoutsCensor
        | Kind::ClosedModelBlindSpot
        | Kind::MeanAboveP95
        | Kind::InFlightCensors
        | Kind::RoundTripBound => SPECTRUM,
        Kind::LostSyns
        | Kind::ConnectionsUnfair
        | Kind::ConnectionsNotReused
        | Kind::StaleConnections
        | Kind::SurplusBytes => LINKS,
        Kind::ListenOverflowed
        | Kind::DescriptorsShort
        | Kind::Throttled
        | Kind::MonitorFailed
        | Kind::MemoryGrows => WATCHED,
        Kind::ResponseChanged | Kind::RedirectsNotFollowed | Kind::IterationsAbandoned => REQUESTS,
        Kind::MergedApart | Kind::MergedTargetsDiffer => MACHINES,
        Kind::NoRequests | Kind::RowsNotAppended | Kind::TooManySeries | Kind::ValuesRefused => METHOD,
    }
}

pub fn body(s: &Summary, anchors: &Anchors) -> Option<Markup> {
    let mut all: Vec<(Set, Finding)> = Vec::new();
    // The heaviest first; those of one weight stay in the order in which they were raised.
    let mut sorted: Vec<&Caution> = s.cautions.iter().collect();
    sorted.sort_by_key(|c| c.weight);
    all.extend(sorted.into_iter().map(|c| caution(c, anchors)));
    all.extend(failures(s));
    all.extend(pressures(s, anchors));
    all.extend(slopes(s, anchors));
    all.extend(spikes(s, anchors));
    if all.is_empty() && s.limiting_resource.is_none() {
        return None;
    }
    let of = |set: Set, all: &mut Vec<(Set, Finding)>| -> Vec<Finding> {
        all.extract_if(.., |(its, _)| *its == set).map(|(_, finding)| finding).collect()
    };
    let groups = [("The system under test", System), ("The plan", Plan), ("The load generator", Generator)]
        .map(|(title, set)| (title, of(set, &mut all)));
    Some(html! {
        @if let Some(limiting) = &s.limiting_resource { p.lead { "At its limit: " b { (limiting) } } }
        @for (title, found) in groups.iter().filter(|(_, found)| !found.is_empty()) {
            h3 { (title) }
            (findings(found))
        }
    })
}

/// The name that a link to an anchor has.
fn links_to(anchors: &Anchors, wanted: &[Anchor]) -> Option<(String, String)> {
    let anchor = anchors.first(wanted)?;
    Some((anchor.id().to_owned(), anchor.noun().to_owned()))
}

fn caution(c: &Caution, anchors: &Anchors) -> (Set, Finding) {
    let finding = Finding {
        tone: c.weight.into(),
        word: words::weight(c.weight).into(),
        title: c.title.clone(),
        code: c.kind.code().into(),
        evidence: c.evidence.clone(),
        advice: c.advice.clone(),
        shown: links_to(anchors, wanted(c.kind)),
    };
    (c.kind.set(), finding)
}

/// A finding that is no caution: the result stands, and this is a part of it.
fn found(
    tone: Tone,
    word: &str,
    title: String,
    evidence: String,
    advice: &str,
    shown: Option<(String, String)>,
) -> (Set, Finding) {
    let (word, code, advice) = (word.to_owned(), String::new(), advice.to_owned());
    (System, Finding { tone, word, title, code, evidence, advice, shown })
}

/// More of one kind are for the table.
const TOLD: usize = 5;

/// What to do about each kind of finding: what one looks at next, no guess at the cause.
const LONGER: &str = "run for longer: if it goes on, look for what is kept and never given back";
const FALLS: &str =
    "nothing is to be done: it gives memory back; a run that is to be compared begins when it is level";
const ROSE: &str =
    "see what stood at its limit from then on, and which load it still serves: `plimsoll find`";
const MOMENT: &str = "look in the server's log and in its monitors at that time: a collection of garbage, a job of its \
    own, a deployment";
const READ: &str = "read the examples, and the server's log for the first of them";
const ANSWERS: &str =
    "read the examples, and the server's log for the first of them; until it answers, its times say little";

/// Classes and statuses of the failures, the most frequent first; `None` where nothing failed.
fn failures(s: &Summary) -> Option<(Set, Finding)> {
    let failed = s.totals.errors;
    if failed == 0 {
        return None;
    }
    let mut classes: Vec<_> = s.errors.iter().filter(|row| row.count > 0).collect();
    classes.sort_by_key(|row| std::cmp::Reverse(row.count));
    let told: Vec<String> =
        classes.iter().take(TOLD).map(|row| format!("{} {}", count(row.count), row.class)).collect();
    let mut statuses: Vec<_> =
        s.statuses.iter().filter(|(status, _)| status.starts_with(['4', '5'])).collect();
    statuses.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let codes: Vec<String> =
        statuses.iter().take(TOLD).map(|(status, n)| format!("{} of status {status}", count(**n))).collect();
    let evidence = [told, codes].concat().join(", ");
    let title = format!("{} of {} failed", counted(failed, "request"), count(s.totals.requests));
    let shown = Some((Anchor::Errors.id().to_owned(), Anchor::Errors.noun().to_owned()));
    // One in a hundred may be as the plan wants it; more is told as a doubt.
    let tone = if failed * 100 > s.totals.requests { Tone::Doubt } else { Tone::Note };
    let advice = if failed * 2 > s.totals.requests { ANSWERS } else { READ };
    Some(found(tone, "errors", title, evidence, advice, shown))
}

fn pressures(s: &Summary, anchors: &Anchors) -> Vec<(Set, Finding)> {
    let one = |p: &plimsoll_analysis::summary::SaturatedResource| {
        found(
            Tone::Doubt,
            "at its limit",
            p.what.clone(),
            p.evidence.clone(),
            relief(p),
            links_to(anchors, WATCHED),
        )
    };
    s.pressure.iter().take(TOLD).map(one).collect()
}

fn slopes(s: &Summary, anchors: &Anchors) -> Vec<(Set, Finding)> {
    let rows = s.monitors.iter().flat_map(|monitor| monitor.rows.iter().map(move |row| (monitor, row)));
    let moving = rows.filter_map(|(monitor, row)| {
        let slope = row.slope.as_ref().filter(|slope| slope.verdict != SlopeVerdict::Level)?;
        let part = if row.part.is_empty() { String::new() } else { format!("{}: ", row.part) };
        let title = format!("{}: {part}{}", monitor.name, row.metric.replace('_', " "));
        let advice = if slope.verdict == SlopeVerdict::Falls { FALLS } else { LONGER };
        Some(found(Tone::Note, "slope", title, slope.sentence.clone(), advice, links_to(anchors, WATCHED)))
    });
    moving.take(TOLD).collect()
}

fn spikes(s: &Summary, anchors: &Anchors) -> Vec<(Set, Finding)> {
    let one = |spike: &plimsoll_analysis::summary::Spike| {
        let back = words::back(spike);
        let title = format!("slow from {} on, for {}", chosen_s(spike.from_s), chosen_s(spike.slow_s));
        let (peak, baseline) = (duration_ns(spike.peak_p95_ns), duration_ns(spike.baseline_p95_ns));
        let rose = with_load(s, spike);
        let advice = if rose.is_some() { ROSE } else { MOMENT };
        let began = rose.map_or(String::new(), |rose| format!("; it began {rose}"));
        let evidence = format!("p95 {peak} against {baseline}, {back}{began}");
        found(Tone::Doubt, "spike", title, evidence, advice, links_to(anchors, COURSE))
    };
    let mut all: Vec<(Set, Finding)> = s.spikes.iter().take(TOLD).map(one).collect();
    if s.spikes.len() > TOLD {
        let title = format!("and {} more spikes", s.spikes.len() - TOLD);
        all.push(found(Tone::Note, "spike", title, String::new(), "", links_to(anchors, COURSE)));
    }
    all
}
