//! Words that several renderers share, so that a thing has the same name in the terminal and in Markdown.

use crate::format::{chosen_ns, chosen_s, count, counted, quantile_name, quantity, rate_of, rate_per_s};
use plimsoll_analysis::summary::{
    Apdex, Outcome, Percentile, Severity, Spike, Standing, StreamRow, Summary, ThresholdResult, Times,
    WebSocketRow,
};
use plimsoll_plan::load::{Arrivals, Load};
use plimsoll_plan::threshold::Subject;
use plimsoll_plan::{Outline, Side};
use plimsoll_record::event::StoppedBy;

pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Interrupted => "INTERRUPTED",
    }
}

/// Returns the verdict's sentence without its word, which precedes it anyway.
pub fn sentence(s: &Summary) -> &str {
    let sentence = s.verdict.sentence.as_str();
    sentence
        .strip_prefix(outcome(s.verdict.result))
        .map_or(sentence, |rest| rest.trim_start_matches([':', ' ']))
}

pub fn weight(weight: Severity) -> &'static str {
    match weight {
        Severity::Inconclusive => "inconclusive",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

pub fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Network => "network",
        Side::Server => "server",
    }
}

pub fn stopped_by(by: Option<StoppedBy>) -> &'static str {
    match by {
        Some(StoppedBy::Duration) => "ran its full duration",
        Some(StoppedBy::Requests) => "completed its number of requests",
        Some(StoppedBy::Interrupt) => "interrupted",
        Some(StoppedBy::InterruptAllowed) => "stopped early, as allowed",
        Some(StoppedBy::Command) => "stopped by a command",
        Some(StoppedBy::Threshold) => "stopped by a missed threshold",
        Some(StoppedBy::Retired) => "ended when all users had finished",
        None => "ended unexpectedly",
    }
}

/// Returns the load model in a few words, and the protocol if it is not HTTP/1.
pub fn load(plan: &Outline) -> String {
    let model = model(plan);
    if plan.link.is_pipelined {
        // Responses of one connection come in order, so their times are not independent.
        let depth = count(plan.link.streams.into());
        return format!("{model}, pipelined (up to {depth} requests per connection, with correlated times)");
    }
    match (plan.link.is_http2, plan.link.streams) {
        (false, _) => model,
        (true, 0 | 1) => format!("{model}, HTTP/2"),
        (true, users) => format!("{model}, HTTP/2 with {} users per connection", count(users.into())),
    }
}

fn model(plan: &Outline) -> String {
    if plan.workloads.len() > 1 {
        let each: Vec<String> = plan
            .workloads
            .iter()
            .map(|workload| format!("{} ({})", workload.name, level(&workload.load)))
            .collect();
        return format!("{} load models: {}", each.len(), each.join(", "));
    }
    let profile = plan.load.profile();
    let staged = !profile.stages.is_empty();
    match &plan.load {
        Load::Closed { .. } if staged => {
            format!("closed model, stages up to {} users", quantity(profile.peak()))
        }
        Load::Closed { .. } => {
            let users = profile.peak();
            format!("closed model, {} user{}", count(users as u64), if users == 1.0 { "" } else { "s" })
        }
        Load::Open { arrivals, .. } => {
            let spread = match arrivals {
                Arrivals::Constant => "",
                Arrivals::Poisson => ", Poisson",
                Arrivals::Recorded => ", recorded",
            };
            let level = rate_of(profile.peak(), "arrivals");
            if staged {
                format!("open model, stages up to {level}{spread}")
            } else {
                format!("open model, {level}{spread}")
            }
        }
    }
}

/// Returns the highest level of a load model: `up to 20 users`, `500/s`.
fn level(load: &Load) -> String {
    let profile = load.profile();
    let up_to = if profile.stages.is_empty() { "" } else { "up to " };
    match load {
        Load::Closed { .. } => format!("{up_to}{}", counted(profile.peak() as u64, "user")),
        Load::Open { .. } => format!("{up_to}{}", rate_per_s(profile.peak())),
    }
}

/// Returns the plan as facts and details.
pub fn setting(s: &Summary) -> (Vec<String>, Vec<String>) {
    let mut facts = vec![load(&s.plan)];
    let measured = chosen_s(s.totals.measured_s);
    facts.push(if s.totals.warmup_s > 0.0 {
        format!("{measured} after {} of warm-up", chosen_s(s.totals.warmup_s))
    } else {
        measured
    });
    let workers = s.client.workers.len().max(1);
    let mut details = vec![counted(workers as u64, "worker")];
    // Without the seed, random arrivals are not repeatable.
    if matches!(s.plan.load, Load::Open { arrivals: Arrivals::Poisson, .. }) {
        details.push(format!("seed {}", s.plan.seed));
    }
    if !s.plan.keep_alive {
        facts.push("no keep-alive".into());
    }
    if s.generators.len() > 1 {
        facts.push(format!("{} runs merged", s.generators.len()));
    } else if s.plan.share.of > 1 {
        facts.push(format!("part {} of {}", s.plan.share.part, s.plan.share.of));
    }
    (facts, details)
}

/// Returns how far from its limit a threshold was met or missed.
pub fn margin(judged: &ThresholdResult) -> String {
    const MANY_TIMES: f64 = 10.0;
    match judged.margin {
        Some(0.0) | None => String::new(),
        Some(margin) => {
            let side =
                if judged.observed.is_some_and(|value| value > judged.limit) { "over" } else { "under" };
            // A percentage of thousands is hard to read.
            match judged.observed.map(|value| value / judged.limit) {
                Some(times) if times.is_finite() && times >= MANY_TIMES => {
                    format!("{}× the limit", crate::format::quantity(times))
                }
                _ => format!("{} {side}", crate::format::ratio(margin.abs())),
            }
        }
    }
}

/// Returns whether it is met.
pub fn standing(judged: &ThresholdResult) -> &'static str {
    match judged.standing {
        Standing::Met => "yes",
        Standing::Missed => "no",
        Standing::Undecided => "undecided",
    }
}

/// Returns the possible range of the value if it changes the result; otherwise, an empty text. `in_flight` requests
/// had not ended when the run did, and count only in the range.
pub fn bounds(judged: &ThresholdResult, in_flight: u64) -> String {
    let is_inside = judged.margin.map(|margin| margin >= 0.0);
    let is_plain = match judged.standing {
        Standing::Met => is_inside != Some(false),
        Standing::Missed => is_inside != Some(true),
        Standing::Undecided => judged.observed.is_none(),
    };
    if is_plain {
        return String::new();
    }
    let mut ends = [judged.best, judged.worst];
    ends.sort_by(|a, b| a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)));
    let text = |x: f64| crate::format::figure_against(x, judged.limit, judged.unit);
    // The measured value misses the limit: the mark of a met threshold needs its reason.
    let is_of_arrivals = judged.subject.starts_with(Subject::Achieved.name());
    if judged.standing == Standing::Met && is_of_arrivals && in_flight > 0 {
        let Some(low) = ends[0].map(text) else { return String::new() };
        return format!("at least {low}, because {} were in flight at the end", count(in_flight));
    }
    match ends {
        [Some(0.0), Some(high)] => format!("could be up to {}", text(high)),
        [Some(low), Some(high)] => format!("could be {} to {}", text(low), text(high)),
        [Some(low), None] => format!("could be {} or more", text(low)),
        _ => String::new(),
    }
}

/// Returns whether and when it recovered.
pub fn back(spike: &Spike) -> String {
    match spike.recovered_after_s {
        // The end of the load is not a recovery of the server.
        Some(after) if after <= 0.0 => "recovered when the load fell".into(),
        Some(after) => format!("recovered after {}", chosen_s(after)),
        None => "not recovered by the end".into(),
    }
}

/// Returns the value of a threshold.
pub fn observed(judged: &ThresholdResult) -> String {
    let Some(value) = judged.observed else { return "no samples".into() };
    if value == 0.0 && judged.subject.starts_with(Subject::LongestOutage.name()) {
        return "none".into();
    }
    let text = crate::format::figure_against(value, judged.limit, judged.unit);
    if judged.is_lower_bound { format!("≥ {text}") } else { text }
}

/// Returns the worst window of a threshold with windows.
pub fn window(judged: &ThresholdResult) -> String {
    judged
        .window
        .map_or(String::new(), |w| format!("worst window {} to {}", chosen_s(w.from_s), chosen_s(w.to_s)))
}

/// Returns what happened to incomplete iterations; empty if there are none.
pub fn iterations_lost(s: &Summary) -> Vec<String> {
    let t = &s.totals;
    let told = [(t.iterations_abandoned, "abandoned"), (t.iterations_interrupted, "interrupted at the end")];
    let mut facts: Vec<String> =
        told.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))).collect();
    if t.users_out_of_data > 0 {
        facts.push(format!("{} out of data", counted(t.users_out_of_data, "user")));
    }
    facts
}

/// Returns how a stream's events compare with the expected ones.
pub fn events(row: &StreamRow) -> Vec<String> {
    let mut facts = vec![format!("{} events, {}", count(row.events), rate_of(row.events_per_s, "events"))];
    if let Some(share) = row.event_loss_ratio {
        let lost = crate::format::ratio(share);
        facts.push(format!(
            "{} of {} expected events lost ({lost})",
            count(row.events_lost),
            count(row.events_expected)
        ));
    }
    let odd = [
        (row.events_duplicated, "duplicated"),
        (row.events_out_of_order, "out of order"),
        (row.events_unnumbered, "without an ID"),
    ];
    facts.extend(odd.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))));
    if let Some(fair) = row.fairness {
        facts.push(format!(
            "{}–{} events per stream, median {}, fairness {:.3} (Jain)",
            count(fair.events_min),
            count(fair.events_max),
            count(fair.events_p50),
            fair.index
        ));
    }
    facts
}

/// Returns how the streams of a request ended.
pub fn ends(row: &StreamRow) -> Vec<String> {
    let told = [
        (row.open_at_end, "open at the end"),
        (row.closed_by_server, "closed by the server"),
        (row.closed_by_client, "closed by the client"),
        (row.failures, "failed"),
        (row.reconnects, "reconnected"),
    ];
    let mut facts = vec![counted(row.streams, "stream")];
    facts.extend(told.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))));
    facts
}

/// Returns how the WebSockets of a request ended.
pub fn socket_ends(row: &WebSocketRow) -> Vec<String> {
    let by_code: Vec<String> =
        row.close_codes.iter().map(|(code, n)| format!("{code} × {}", count(*n))).collect();
    let codes = if by_code.is_empty() { String::new() } else { format!(" ({})", by_code.join(", ")) };
    let mut facts = vec![format!("{} opened", count(row.opened))];
    let told = [
        (row.open_at_end, "open at the end", ""),
        (row.closed_by_server, "closed by the server", codes.as_str()),
        (row.closed_by_client, "closed by the client", ""),
        (row.failures, "failed", if row.closed_by_server == 0 { codes.as_str() } else { "" }),
    ];
    let used = told.into_iter().filter(|(n, ..)| *n > 0);
    facts.extend(used.map(|(n, what, codes)| format!("{} {what}{codes}", count(n))));
    facts
}

/// Returns what was sent and received over the WebSockets of a request.
pub fn messages(row: &WebSocketRow) -> Vec<String> {
    let mut facts = vec![
        format!("{} sent, {}", count(row.messages_sent), rate_of(row.messages_sent_per_s, "messages")),
        format!(
            "{} received, {}",
            count(row.messages_received),
            rate_of(row.messages_received_per_s, "messages")
        ),
    ];
    if let Some(share) = row.message_loss_ratio {
        let lost = crate::format::ratio(share);
        facts.push(format!(
            "{} of {} expected messages lost ({lost})",
            count(row.messages_lost),
            count(row.messages_expected)
        ));
    }
    let odd = [
        (row.messages_duplicated, "duplicated"),
        (row.messages_out_of_order, "out of order"),
        (row.messages_unnumbered, "without a number"),
        (row.messages_unanswered, "without a response"),
        (row.responses_unmatched, "with an unknown ID"),
    ];
    facts.extend(odd.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))));
    if row.pings_sent > 0 {
        facts.push(format!(
            "{} sent, {} received",
            counted(row.pings_sent, "ping"),
            counted(row.pongs_received, "pong")
        ));
    }
    if row.pings_received > 0 {
        facts.push(format!("{} answered", counted(row.pings_received, "ping")));
    }
    facts
}

/// Returns the distributions of a WebSocket that have samples, by the names that reports use.
pub fn websocket_times(row: &WebSocketRow) -> impl Iterator<Item = (&'static str, &Times)> {
    let all = [
        ("handshake", &row.handshake),
        ("round trip", &row.round_trip),
        ("ping", &row.ping),
        ("gap", &row.gap),
        ("age", &row.age),
        ("duration", &row.duration),
    ];
    all.into_iter().filter(|(_, times)| times.count > 0)
}

/// Returns the distributions of a stream that have samples, by the names that reports use.
pub fn stream_times(row: &StreamRow) -> impl Iterator<Item = (&'static str, &Times)> {
    let all = [
        ("head", &row.head),
        ("first event", &row.first_event),
        ("gap", &row.gap),
        ("age", &row.age),
        ("duration", &row.duration),
    ];
    all.into_iter().filter(|(_, times)| times.count > 0)
}

/// Returns a percentile as a fact, or why there is none.
pub enum Shown<'a> {
    Fact(&'a Percentile),
    /// The number of samples, and the required number.
    TooFew(u64, u64),
    Missing,
}

pub fn percentile(times: &Times, q: f64) -> Shown<'_> {
    match times.percentiles.iter().find(|p| (p.q - q).abs() < 1e-9) {
        Some(p) if times.quantile(q).value_ns().is_some() => Shown::Fact(p),
        Some(p) => Shown::TooFew(times.count + times.censored, plimsoll_stats::samples_needed(p.q)),
        None => Shown::Missing,
    }
}

/// The meaning of a dash in place of a percentile, once for a text with several.
pub const DASH: &str = "-: too few samples for this percentile (p50 needs 20, p90 100, p99 1,000)";

/// Returns the largest value, with `≥` if censored times matter.
pub fn max(times: &Times) -> String {
    let bounds = times.percentiles.iter().filter(|p| p.is_lower_bound).map(|p| p.value_ns);
    match times.max_ns.into_iter().chain(bounds).max() {
        Some(max) if times.max_is_lower_bound => crate::format::at_least(max),
        max => crate::format::maybe_ns(max),
    }
}

/// Returns the mean, with `≥` if censored times matter.
pub fn mean(times: &Times) -> String {
    match times.mean_ns {
        Some(mean) if times.mean_is_lower_bound => crate::format::at_least(mean.round() as u64),
        mean => crate::format::maybe_f64_ns(mean),
    }
}

/// Returns `0.94` or `≥ 0.81`: two digits after the decimal point, as in the specification. Values below 1 never round
/// to 1, and a lower bound is rounded down.
pub fn apdex(apdex: &Apdex) -> String {
    let two = |index: f64| format!("{:.2}", if index < 1.0 { index.min(0.99) } else { index });
    match two(apdex.index) == two(apdex.index_max) {
        true => two(apdex.index),
        // A ratio of counts that is a whole number of hundredths must stay one, despite binary rounding.
        false => format!("≥ {}", two((apdex.index * 100.0 + 1e-9).floor() / 100.0)),
    }
}

/// Returns `(900 samples, needs 10,000)`.
pub fn too_few(has: u64, needs: u64) -> String {
    format!("({}, needs {})", counted(has, "sample"), count(needs))
}

/// Returns the upper edge of a bucket.
pub fn band(up_to_ns: Option<u64>, below_ns: Option<u64>) -> String {
    match (up_to_ns, below_ns) {
        (Some(edge), _) => format!("≤ {}", chosen_ns(edge)),
        (None, Some(edge)) => format!("> {}", chosen_ns(edge)),
        (None, None) => "all".into(),
    }
}

/// Returns a monitor's kind and target; empty if its name contains both.
pub fn watches(name: &str, kind: &str, of: &str) -> String {
    match (kind == name, of.is_empty()) {
        (true, true) => String::new(),
        (_, true) => kind.into(),
        (_, false) => format!("{kind} {of}"),
    }
}

/// Quotes a text so that a POSIX shell takes it as one word.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns how machines of a merged run differ, or that they do not; empty if there is too little data.
pub fn outlier_notes(s: &Summary) -> Vec<String> {
    let tested = || s.generators.iter().filter_map(|row| Some((row, row.divergence.as_ref()?)));
    let differing = tested().filter(|(_, apart)| apart.is_different);
    let mut said: Vec<String> =
        differing.map(|(row, apart)| format!("{}: {}", row.host, apart.sentence)).collect();
    if said.is_empty() && tested().next().is_some() {
        let n = count(tested().count() as u64);
        let looked_at = |q: f64| tested().any(|(_, apart)| apart.ratios.iter().any(|ratio| ratio.q == q));
        let describe = |q: f64| {
            let too_few = if looked_at(q) { "" } else { " (too few samples)" };
            format!("{}{too_few}", quantile_name(q))
        };
        said.push(format!(
            "No difference between the times of {n} machines was found: {}, {}.",
            describe(0.5),
            describe(0.99)
        ));
    }
    said
}
