//! PASS, FAIL or INCONCLUSIVE, in one sentence that may be quoted.

use super::cells::Cells;
use super::doubts::is_of_all;
use super::facts::{Facts, Machine};
use super::outage_words::outages;
use super::watched::{is_listening, is_thread};
use crate::caution::Kind;
use crate::summary::{
    Achieved, Availability, Caution, Offered, Outcome, SaturatedResource, Standing, ThresholdResult, Times,
    Verdict,
};
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::phrase::{
    chosen_ns, count, counted, duration_ns, figure, figure_against, quantile_name, quantity, rate_of,
};
use plimsoll_plan::threshold::{Comparison, FigureUnit, Scope, Statistic, Subject, Threshold};
use plimsoll_record::event::{Note, NoteKind, StoppedBy};
use plimsoll_stats::samples_needed;

/// A threshold that is missed regardless of all cautions results in FAIL; otherwise, one that they leave undecided
/// results in INCONCLUSIVE; otherwise, the verdict is PASS. A run that was interrupted is INTERRUPTED unless a
/// threshold was already missed.
pub(super) fn verdict(
    facts: &Facts,
    cautions: &[Caution],
    thresholds: &[ThresholdResult],
    offered: Option<&Offered>,
    achieved: &Achieved,
    response: &Times,
    (pressure, available): (&[SaturatedResource], &Availability),
) -> Verdict {
    let interrupted = interrupted(facts);
    let gone = outages(available, available.measured_ns);
    let rules = || facts.plan.thresholds.iter().zip(thresholds);
    // Of a run that was cut short, more was still to come.
    let is_early = |rule: &Threshold| interrupted.is_some() && is_least_count(rule);
    let missed: Vec<(&Threshold, &ThresholdResult)> =
        rules().filter(|(rule, judged)| judged.standing == Standing::Missed && !is_early(rule)).collect();
    if !missed.is_empty() {
        // That the service was gone comes first: most of what else was missed follows from it.
        let mut each = gone;
        let others =
            missed.iter().filter(|(rule, _)| !(rule.subject.is_of_outages() && rule.scope.is_none()));
        each.extend(others.map(|(rule, judged)| missed_text(rule, judged)));
        let early = interrupted.map_or(String::new(), |when| format!(" (interrupted {when})"));
        return Verdict {
            result: Outcome::Fail,
            sentence: format!("FAIL: {}{early}{}", joined(&each), bottleneck(cautions, pressure)),
            reasons: missed.iter().map(|(_, judged)| judged.text.clone()).collect(),
        };
    }
    if let Some(when) = interrupted {
        return cut_short(&when, thresholds, &with_outages(pass(facts, offered, achieved, response), &gone));
    }
    if let Some(verdict) = of_all(cautions) {
        return verdict;
    }
    // A machine that shared the load may have been stopped by its own part of the figures, which together are good.
    let was_stopped = facts.stopped_by() == Some(StoppedBy::Threshold);
    // A threshold that lacks samples only because of the stop is not a reason, unless another caution affects it.
    let is_reason = |(rule, judged): &(&Threshold, &ThresholdResult)| {
        let few = judged.deciding().iter().all(|doubt| doubt.kind == Kind::TooFewSamples);
        judged.standing == Standing::Undecided && !(was_stopped && (few || rule.abort_after_ns.is_none()))
    };
    let undecided: Vec<(&Threshold, &ThresholdResult)> = rules().filter(is_reason).collect();
    if !undecided.is_empty() {
        let verdict = inconclusive(&undecided);
        return Verdict { sentence: with_outages(verdict.sentence, &gone), ..verdict };
    }
    if was_stopped {
        let mut notes = facts.machines.iter().flat_map(|m| &m.origin.notes);
        let ends = |note: &&Note| note.kind == NoteKind::Control;
        let told = notes.rfind(ends).map(|note| note.text.clone());
        let why = told.unwrap_or_else(|| "stopped by a threshold".into());
        return Verdict { result: Outcome::Fail, sentence: format!("FAIL: {why}"), reasons: vec![why] };
    }
    let figures = pass(facts, offered, achieved, response) + &saturated(pressure);
    let figures = with_outages(figures, &gone);
    Verdict { result: Outcome::Pass, sentence: format!("PASS: {figures}"), reasons: Vec::new() }
}

/// Joins sentences; the first one continues after the word of the verdict.
fn joined(sentences: &[String]) -> String {
    let capital = |text: &str| {
        let (word, _) = text.split_once(' ').unwrap_or((text, ""));
        let mut chars = text.chars();
        match chars.next().filter(|_| word.chars().all(char::is_lowercase)) {
            Some(first) => first.to_uppercase().chain(chars).collect(),
            // `p99` and names are written as they are.
            None => text.to_owned(),
        }
    };
    let rest = sentences.iter().skip(1).map(|one| format!(". {}", capital(one)));
    sentences.first().cloned().into_iter().chain(rest).collect()
}

/// When it was, how much was met by then, and the figures so far.
fn cut_short(when: &str, thresholds: &[ThresholdResult], figures: &str) -> Verdict {
    let met = thresholds.iter().filter(|judged| judged.is_met).count();
    let so_far = match thresholds.len() {
        0 => String::new(),
        all => format!("; {met} of {} met so far", counted(all as u64, "threshold")),
    };
    Verdict {
        result: Outcome::Interrupted,
        sentence: format!("INTERRUPTED: {when}: {figures}{so_far}"),
        reasons: vec![Kind::StoppedEarly.code().to_owned()],
    }
}

/// `after 2.99 s of 15 s`; `None`: the run came to its end, or may end early.
fn interrupted(facts: &Facts) -> Option<String> {
    let by_hand = |m: &&Machine| {
        m.origin.ending.as_ref().is_some_and(|ending| ending.stopped_by == StoppedBy::Interrupt)
    };
    let elapsed_ns = facts.machines.iter().filter(by_hand).map(|m| m.elapsed_ns).min().unwrap_or(0);
    let planned_ns = facts.plan.stop.duration_ns;
    let is_early = planned_ns.is_none_or(|planned_ns| elapsed_ns < planned_ns);
    let of = planned_ns.map_or(String::new(), |planned_ns| format!(" of {}", chosen_ns(planned_ns)));
    let when = format!("after {}{of}", chosen_ns(elapsed_ns));
    (facts.stopped_by() == Some(StoppedBy::Interrupt) && is_early).then_some(when)
}

/// Whether the rule demands a minimum number.
fn is_least_count(rule: &Threshold) -> bool {
    rule.subject.kind() == plimsoll_plan::threshold::Kind::Count && !rule.comparison.is_downwards()
}

/// Returns the sentence followed by the outages, no matter which thresholds were set.
fn with_outages(sentence: String, gone: &[String]) -> String {
    gone.iter().fold(sentence, |sentence, one| format!("{sentence}; {one}"))
}

/// What is in doubt about the run as a whole: no figure stands without it.
fn of_all(cautions: &[Caution]) -> Option<Verdict> {
    let doubts: Vec<&Caution> = cautions.iter().filter(|caution| is_of_all(caution)).collect();
    let first = doubts.first()?;
    Some(Verdict {
        result: Outcome::Inconclusive,
        sentence: format!("INCONCLUSIVE: {} ({})", first.title(), first.evidence_text()),
        reasons: doubts.iter().map(|caution| caution.kind.code().to_owned()).collect(),
    })
}

/// The doubt that decides and its size, and the figure that it leaves.
fn inconclusive(undecided: &[(&Threshold, &ThresholdResult)]) -> Verdict {
    let mut because: Vec<String> = Vec::new();
    for doubt in undecided.iter().flat_map(|(_, judged)| judged.deciding()) {
        if !because.iter().any(|code| code == doubt.kind.code()) {
            because.push(doubt.kind.code().to_owned());
        }
    }
    let mut each: Vec<String> = undecided.iter().map(|(rule, judged)| undecided_text(rule, judged)).collect();
    let more = match each.len().saturating_sub(TOLD) {
        0 => String::new(),
        n => format!("; {} undecided", counted(n as u64, "more threshold")),
    };
    each.truncate(TOLD);
    Verdict {
        result: Outcome::Inconclusive,
        sentence: format!("INCONCLUSIVE: {}{more}", each.join("; ")),
        reasons: because,
    }
}

/// Maximum number of undecided thresholds that are reported one by one.
const TOLD: usize = 2;

/// `too few samples for p99: 120 of at least 368: the p99 response time is at least 2.00 ms, the limit is 500 ms`
fn undecided_text(rule: &Threshold, judged: &ThresholdResult) -> String {
    let why = judged.deciding();
    let Some(first) = why.first() else { return format!("no measurement of {}", judged.subject) };
    if judged.observed.is_none() {
        return first.text();
    }
    let more = match why.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more reason)".into(),
        n => format!(" (and {n} more reasons)"),
    };
    let (low, high) = match rule.comparison.is_upwards() {
        true => (judged.worst, judged.best),
        false => (judged.best, judged.worst),
    };
    // No time is below 0.
    let is_time = judged.unit == FigureUnit::Nanoseconds;
    let low = low.filter(|low| !is_time || *low > 0.0 || high.is_none_or(|high| high <= 0.0));
    let [low, high] = [low, high].map(|x| x.map(|x| exact(x, judged)));
    let seen = match (low, high) {
        (Some(low), Some(high)) if low != high => format!("between {low} and {high}"),
        (Some(low), Some(_)) => low,
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => "unknown".into(),
    };
    format!("{}{more}: {}; {}", first.text(), clause(rule, judged, &seen), demand(rule, judged))
}

/// A full thread sets the rate of a run that passed; what is shared or wide may be full by right.
fn saturated(pressure: &[SaturatedResource]) -> String {
    let first = pressure.first().filter(|first| is_thread(&first.kind, &first.metric));
    first.map_or(String::new(), |first| format!("; saturated: {}", first.resource))
}

/// The first resource at its limit on the network or at the service, where something shows it; cautions that name a
/// cause come before a saturated resource, which may be busy as planned. Their numbers stand with them: in a sentence
/// that has to be understood at a glance they would hide what was missed.
fn bottleneck(cautions: &[Caution], pressure: &[SaturatedResource]) -> String {
    const CAUSES: [(Kind, &str); 4] = [
        (Kind::ProcessFdLimit, "file descriptors"),
        (Kind::ListenQueueOverflow, "the listen backlog"),
        (Kind::CpuThrottled, "the CPU quota"),
        (Kind::NetworkSaturated, "the network link"),
    ];
    // Its counters are of the whole machine: without the run's own evidence it may be another server's.
    let is_ours = |kind: Kind| {
        kind != Kind::ListenQueueOverflow
            || pressure.iter().any(|told| is_listening(&told.kind, &told.metric))
    };
    let raised = |kind: Kind| cautions.iter().any(|c| c.kind == kind && is_ours(kind));
    let cause = CAUSES.iter().find(|(kind, _)| raised(*kind)).map(|(_, what)| *what);
    match (cause, pressure.first()) {
        (Some(what), _) => format!("; bottleneck: {what}"),
        (None, Some(first)) => format!("; bottleneck: {}", first.resource),
        (None, None) => String::new(),
    }
}

fn pass(facts: &Facts, offered: Option<&Offered>, achieved: &Achieved, response: &Times) -> String {
    let what = match offered {
        // Too few requests for a rate.
        _ if facts.finished() < samples_needed(0.5) && !facts.has_streams() => {
            format!("only {}", counted(facts.finished(), "request"))
        }
        None => rate_of(achieved.rate_per_s, "req"),
        // An arrival starts a sequence, so requests cannot be compared with it.
        Some(offered) if facts.counts_iterations() => format!(
            "offered {}, achieved {} and {}",
            rate_of(offered.rate_per_s, "arrivals"),
            rate_of(achieved.iterations_per_s, "iterations"),
            rate_of(achieved.rate_per_s, "req")
        ),
        Some(offered) => {
            format!("{} of {} offered", quantity(achieved.rate_per_s), rate_of(offered.rate_per_s, "req"))
        }
    };
    // The higher of the two that has enough samples.
    let told = [0.99, 0.5]
        .into_iter()
        .find_map(|q| response.percentiles.iter().find(|p| p.q == q && p.has_enough_samples));
    let slow = match told {
        Some(p) => {
            let at_least = if p.is_lower_bound { "≥ " } else { "" };
            format!(" with {} {at_least}{}", quantile_name(p.q), duration_ns(p.value_ns))
        }
        None => String::new(),
    };
    let errors = match facts.all.sum(SeriesSum::Failed) {
        0 => "no errors".into(),
        n => format!("{} of {}", counted(n, "error"), count(facts.finished())),
    };
    format!("{what}{slow} and {errors} in {}", chosen_ns(facts.measured_ns))
}

/// `2.1% of 30,000 requests failed; the threshold is 0%`, `p99 response time of request pay is 715 ms; the threshold is
/// < 500 ms`: in words, because it is read first. The threshold as it was written is among the reasons.
fn missed_text(rule: &Threshold, judged: &ThresholdResult) -> String {
    let Some(value) = judged.observed else {
        return format!("no measurement for the threshold {}", judged.text);
    };
    let at_least = if judged.is_lower_bound { "≥ " } else { "" };
    let seen = format!("{at_least}{}", exact(value, judged));
    format!("{}; {}", clause(rule, judged, &seen), demand(rule, judged))
}

/// Next to its limit, a value has as many digits as it takes to show on which side it is.
fn exact(value: f64, judged: &ThresholdResult) -> String {
    figure_against(value, judged.limit, judged.unit)
}

/// What was seen, as a clause.
fn clause(rule: &Threshold, judged: &ThresholdResult, seen: &str) -> String {
    let (of, when) = (scope(rule), during(judged));
    let n = judged.samples;
    match rule.subject {
        Subject::ErrorRate => format!("{seen} of {}{of} failed{when}", counted(n, "request")),
        Subject::Checks => format!("{seen} of {}{of} passed{when}", counted(n, "check")),
        Subject::GrpcStatus => format!("{seen} of {} ended{of}{when}", counted(n, "gRPC call")),
        Subject::EventLoss => format!("{seen} of {}{of} were lost{when}", counted(n, "expected event")),
        Subject::MessageLoss => format!("{seen} of {}{of} were lost{when}", counted(n, "expected message")),
        Subject::Achieved => format!("{seen} of the offered rate was achieved{when}"),
        Subject::Throughput => format!("throughput{of} is {seen}{when}"),
        Subject::IterationsFailed => {
            format!("{seen} of {} threw an exception{when}", counted(n, "iteration"))
        }
        Subject::Availability => format!("availability{of} is {seen}"),
        Subject::LongestOutage => format!("longest outage{of} is {seen}"),
        Subject::Requests | Subject::Events | Subject::MessagesSent | Subject::MessagesReceived => {
            let what = match rule.subject {
                Subject::Requests => "completed requests",
                Subject::Events => "received events",
                Subject::MessagesSent => "sent messages",
                _ => "received messages",
            };
            format!("number of {what}{of} is {seen}{when}")
        }
        Subject::Counter | Subject::Gauge | Subject::TrueRatio | Subject::Trend => {
            format!("{} is {seen}", rule.left())
        }
        Subject::ResponseTime
        | Subject::ServiceTime
        | Subject::FirstByte
        | Subject::GroupTime
        | Subject::Connect
        | Subject::TlsHandshake
        | Subject::StreamHead
        | Subject::FirstEvent
        | Subject::EventGap
        | Subject::EventAge
        | Subject::WebSocketHandshake
        | Subject::MessageRoundTrip
        | Subject::MessageGap
        | Subject::MessageAge => format!("{}{of} is {seen}{when}", time_name(rule)),
    }
}

/// A limit with the digits that the user wrote.
fn chosen(limit: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::Nanoseconds if limit >= 0.0 => chosen_ns(limit.round() as u64),
        // A share is written in percent, and a hundredfold of it is a few roundings off.
        FigureUnit::Ratio => format!("{}%", (limit * 1e14).round() / 1e12),
        FigureUnit::PerSecond if limit.fract() != 0.0 => format!("{limit}/s"),
        FigureUnit::Nanoseconds | FigureUnit::PerSecond | FigureUnit::Count | FigureUnit::Number => {
            figure(limit, unit)
        }
    }
}

/// `the threshold is < 250 ms`
fn demand(rule: &Threshold, judged: &ThresholdResult) -> String {
    let limit = chosen(judged.limit, judged.unit);
    let sign = match rule.comparison {
        Comparison::Equal => "",
        Comparison::Less => "< ",
        Comparison::LessOrEqual => "≤ ",
        Comparison::Greater => "> ",
        Comparison::GreaterOrEqual => "≥ ",
    };
    format!("the threshold is {sign}{limit}")
}

/// `p99 response time`, `longest gap between events`.
fn time_name(rule: &Threshold) -> String {
    let what = match rule.subject {
        Subject::ServiceTime => "service time",
        Subject::FirstByte => "time to first byte",
        Subject::GroupTime => "group time",
        Subject::Connect => "connect time",
        Subject::TlsHandshake => "TLS handshake time",
        Subject::StreamHead => "time to stream head",
        Subject::FirstEvent => "time to first event",
        Subject::EventGap => "gap between events",
        Subject::EventAge => "age of events",
        Subject::WebSocketHandshake => "WebSocket handshake time",
        Subject::MessageRoundTrip => "message round trip",
        Subject::MessageGap => "gap between messages",
        Subject::MessageAge => "age of messages",
        Subject::Counter | Subject::Gauge | Subject::TrueRatio | Subject::Trend => "value",
        // These have no time: their reports name the response time.
        Subject::ResponseTime
        | Subject::ErrorRate
        | Subject::Checks
        | Subject::Achieved
        | Subject::Throughput
        | Subject::Requests
        | Subject::Events
        | Subject::EventLoss
        | Subject::MessagesSent
        | Subject::MessagesReceived
        | Subject::MessageLoss
        | Subject::Availability
        | Subject::GrpcStatus
        | Subject::IterationsFailed
        | Subject::LongestOutage => "response time",
    };
    match rule.statistic {
        Statistic::Quantile(q) => format!("{} {what}", quantile_name(q)),
        Statistic::Mean => format!("mean {what}"),
        Statistic::Min => format!("minimum {what}"),
        Statistic::Max => format!("maximum {what}"),
        Statistic::Value => what.into(),
    }
}

/// ` of request pay`; empty: of all.
fn scope(rule: &Threshold) -> String {
    match &rule.scope {
        None => String::new(),
        Some(Scope::Request(name)) => format!(" of request {name}"),
        Some(Scope::Scenario(name)) => format!(" of scenario {name}"),
        Some(Scope::Group(name)) => format!(" of group {name}"),
        Some(Scope::Tag(key, value)) => format!(" of tag {key}={value}"),
        Some(Scope::Agent(agents)) if agents.contains('=') => format!(" of agents with {agents}"),
        Some(Scope::Agent(name)) => format!(" of agent {name}"),
        Some(Scope::Status(names)) => format!(" with {names}"),
        Some(scope @ (Scope::Metric(_) | Scope::All(_))) => format!(" of {scope}"),
    }
}

/// The worst window of a threshold that has windows.
fn during(judged: &ThresholdResult) -> String {
    judged.window.map_or(String::new(), |window| {
        let [from, to] = [window.from_s, window.to_s].map(|s| chosen_ns((s * 1e9).round() as u64));
        format!(" from {from} to {to}")
    })
}
