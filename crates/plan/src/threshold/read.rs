//! The grammar of thresholds:
//! `SUBJECT[{KIND: NAME}] [STATISTIC] COMPARISON VALUE [over DURATION] [abort after DURATION]`.

use super::scope::{Scope, all_scopes, distance, scope, statuses};
use super::{Comparison, Kind, OUTAGE_LEAST_NS, OVER_MAX_NS, Statistic, Subject, Threshold};
use crate::Problem;
use crate::outline::TICK_NS;
use crate::unit;

const EXPECTED: &str = "write a threshold such as `response_time p99 < 250ms`, \
    `error_rate < 0.1%`, `achieved >= 99%`, or `throughput > 500/s`";

/// Parses one threshold.
///
/// # Errors
/// Returns an error that names the invalid part, with the alternatives.
pub fn parse(text: &str) -> Result<Threshold, Problem> {
    read(text, Subject::ALL)
}

/// Parses one threshold, which may use user-defined metrics: `trend{metric: cart, tag: shop=b} p95 < 30`,
/// `counter{metric: orders} > 100`, `gauge{metric: depth} max < 7`, or `true_ratio{metric: ok} > 95%`.
///
/// # Errors
/// Returns an error if [`parse`] does.
pub fn parse_with_metrics(text: &str) -> Result<Threshold, Problem> {
    read(text, &[Subject::ALL, &Subject::CUSTOM].concat())
}

fn read(text: &str, subjects: &[Subject]) -> Result<Threshold, Problem> {
    let written = text.trim();
    let end = written.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(written.len());
    let with_subject = of_response_time(written, end);
    let (written, end) = match &with_subject {
        Some((longer, end)) => (longer.as_str(), *end),
        None => (written, end),
    };
    let (name, rest) = written.split_at(end);
    // A name may contain anything, including comparisons and spaces, so the braces are removed before folding.
    let (braces, scope, rest) = match rest.trim_start().strip_prefix('{') {
        None => ("", None, rest),
        Some(inner) => {
            let is_custom = subjects.iter().any(|one| one.family().is_some() && one.name() == name);
            let (scope, behind) = match is_custom {
                true => all_scopes(inner)?,
                false if name == Subject::GrpcStatus.name() => statuses(inner)?,
                false => scope(inner)?,
            };
            let begin = rest.trim_start();
            (&begin[..begin.len() - behind.len()], Some(scope), behind)
        }
    };
    let rest = folded(rest);
    let between = if rest.is_empty() { "" } else { " " };
    let text = format!("{name}{braces}{between}{rest}");
    let (left, comparison, right) = compared(&rest, &text)?;
    let subject = subject(name, &text, subjects)?;
    let (value, over_ns, abort_after_ns) = tail(right)?;
    let statistic = figure(subject, left, &text)?;
    let threshold = Threshold {
        subject,
        statistic,
        comparison,
        value: limit(subject, value)?,
        is_default: false,
        scope,
        over_ns,
        abort_after_ns,
        text,
    };
    makes_sense(&threshold)?;
    Ok(threshold)
}

/// Adds the default subject to a text such as `p99 < 200ms`, which means the response time. Returns the text with the
/// subject, and the end of the subject; `None` if the text has a subject.
fn of_response_time(written: &str, end: usize) -> Option<(String, usize)> {
    // In `p99.9`, the point is part of the statistic.
    let end = written[end..]
        .strip_prefix('.')
        .map_or(end, |rest| end + 1 + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let (figure, rest) = written.split_at(end);
    statistic(figure).ok()?;
    let subject = Subject::ResponseTime.name();
    let (scope, rest) = match rest.trim_start().strip_prefix('{') {
        // An invalid scope is reported by the caller.
        Some(inner) => match scope(inner) {
            Ok((_, behind)) => rest.trim_start().split_at(rest.trim_start().len() - behind.len()),
            Err(_) => ("", rest),
        },
        None => ("", rest),
    };
    Some((format!("{subject}{scope} {figure} {}", rest.trim_start()), subject.len()))
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Splits at the comparison.
fn compared<'a>(rest: &'a str, whole: &str) -> Result<(&'a str, Comparison, &'a str), Problem> {
    let at = rest
        .find(['<', '>', '=', '!'])
        .ok_or(Problem::new(format!("missing comparison in `{whole}`"), EXPECTED))?;
    let (left, right) = rest.split_at(at);
    const SIGNS: [(&str, Comparison); 5] = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("==", Comparison::Equal),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    for (sign, comparison) in SIGNS {
        if let Some(value) = right.strip_prefix(sign) {
            return Ok((left.trim(), comparison, value.trim()));
        }
    }
    Err(Problem::new(format!("invalid comparison `{right}`"), "use `<`, `<=`, `>`, `>=`, or `==`"))
}

fn subject(name: &str, whole: &str, subjects: &[Subject]) -> Result<Subject, Problem> {
    if name.is_empty() {
        return Err(Problem::new(format!("missing metric in `{whole}`"), EXPECTED));
    }
    let found = subjects.iter().copied().find(|subject| subject.name() == name);
    found.ok_or_else(|| {
        let names: Vec<String> = subjects.iter().map(|subject| format!("`{}`", subject.name())).collect();
        let (last, others) = names
            .split_last()
            .map_or((String::new(), String::new()), |(last, others)| (last.clone(), others.join(", ")));
        let is_time =
            ["latency", "response", "duration"].iter().any(|word| name.to_lowercase().contains(word));
        let help = match Subject::renamed(name).or_else(|| nearest(name, subjects)) {
            Some(subject) => format!("did you mean `{}`?", subject.name()),
            None if is_time => "did you mean `response_time`, such as `'response_time p99 < 200ms'`?".into(),
            None => {
                format!("write a rule such as `'response_time p99 < 200ms'`, with one of {others}, or {last}")
            }
        };
        Problem::new(format!("unknown metric `{name}`"), help)
    })
}

/// Returns the metric of which at most a third of the letters differ.
fn nearest(name: &str, subjects: &[Subject]) -> Option<Subject> {
    let near = subjects.iter().map(|subject| (distance(name, subject.name()), *subject));
    let (far, subject) = near.min_by_key(|(far, _)| *far)?;
    (far <= (name.chars().count() / 3).max(1)).then_some(subject)
}

/// Parses the statistic between subject and comparison.
fn figure(subject: Subject, left: &str, whole: &str) -> Result<Statistic, Problem> {
    let name = subject.name();
    let mut words = left.split_whitespace();
    let is_distribution = matches!(subject.kind(), Kind::Times | Kind::Numbers);
    let figure = match (is_distribution, words.next()) {
        (false, Some("min")) if subject == Subject::Gauge => Statistic::Min,
        (false, Some("max")) if subject == Subject::Gauge => Statistic::Max,
        (false, None) => Statistic::Value,
        (false, Some(word)) => {
            let message = format!("unexpected `{word}` after `{name}`, which is one number");
            return Err(Problem::new(message, format!("remove `{word}`")));
        }
        (true, None) => {
            let hint = format!("write a statistic, such as `{name} p99`, `{name} mean`, or `{name} max`");
            return Err(Problem::new(format!("missing statistic after `{name}`"), hint));
        }
        (true, Some(word)) => statistic(word)?,
    };
    match words.next() {
        Some(word) => Err(Problem::new(format!("unexpected `{word}` in `{whole}`"), EXPECTED)),
        None => Ok(figure),
    }
}

fn statistic(word: &str) -> Result<Statistic, Problem> {
    match word {
        "mean" | "avg" => Ok(Statistic::Mean),
        "min" => Ok(Statistic::Min),
        "max" => Ok(Statistic::Max),
        "median" => Ok(Statistic::Quantile(0.5)),
        _ => match word.strip_prefix('p').and_then(|p| p.parse::<f64>().ok()) {
            Some(p) if p > 0.0 && p < 100.0 => Ok(Statistic::Quantile(p / 100.0)),
            _ => Err(Problem::new(
                format!("unknown statistic `{word}`"),
                "use a percentile such as `p99` or `p99.9`, `mean`, `min`, or `max`",
            )),
        },
    }
}

/// Splits the value from `over` and `abort after`, as in `250ms over 10s abort after 30s`.
fn tail(right: &str) -> Result<(&str, Option<u64>, Option<u64>), Problem> {
    const AFTER: &str = "abort after ";
    let at = |word: &str| right.find(&format!(" {word}"));
    let end = at("over ").into_iter().chain(at("abort")).min().unwrap_or(right.len());
    let (value, mut rest) = (right[..end].trim(), right[end..].trim());
    let mut over_ns = None;
    if let Some(behind) = rest.strip_prefix("over ") {
        let (time, more) = time_and_rest(behind);
        let ns = whole_seconds(time, "a window")?;
        if ns == 0 || ns > OVER_MAX_NS {
            let most = OVER_MAX_NS / TICK_NS;
            return Err(Problem::new(
                format!("invalid window `over {time}`: expected 1–{most} s"),
                "write a window such as `over 10s`",
            ));
        }
        (over_ns, rest) = (Some(ns), more.trim());
    }
    if rest.is_empty() {
        return Ok((value, over_ns, None));
    }
    let time = rest.strip_prefix(AFTER).map(time_and_rest).filter(|(_, more)| more.is_empty());
    let (time, _) = time.ok_or(Problem::new(
        format!("unexpected `{rest}` after the value"),
        "write `over 10s`, `abort after 30s`, or both in this order",
    ))?;
    Ok((value, over_ns, Some(whole_seconds(time, "the time after `abort after`")?)))
}

/// Splits a duration from what follows it. A unit after a space (`10 s`) belongs to the duration, so that the error
/// names both.
fn time_and_rest(text: &str) -> (&str, &str) {
    let end = text.find(' ').unwrap_or(text.len());
    let unit =
        text[end..].split_whitespace().next().filter(|_| text[..end].ends_with(|c: char| c.is_ascii_digit()));
    let end = match unit {
        Some(unit) if unit::duration_ns(&format!("1{unit}")).is_ok() => end + 1 + unit.len(),
        _ => end,
    };
    (&text[..end], text[end..].trim())
}

/// Parses a duration in whole seconds, which is the resolution of the data.
fn whole_seconds(text: &str, what: &str) -> Result<u64, Problem> {
    let ns = if text == "0" { 0 } else { unit::duration_ns(text)? };
    if ns.is_multiple_of(TICK_NS) {
        Ok(ns)
    } else {
        Err(Problem::new(
            format!("{what} must be in whole seconds, found `{text}`"),
            "write a duration such as `10s`",
        ))
    }
}

fn limit(subject: Subject, text: &str) -> Result<f64, Problem> {
    match subject.kind() {
        Kind::Times | Kind::Length => Ok(unit::duration_ns(text)? as f64),
        Kind::Share => share(text),
        Kind::PerSecond => unit::rate_per_s(text),
        Kind::Count => Ok(unit::count(text)? as f64),
        Kind::Number | Kind::Numbers => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(Problem::new(format!("invalid number `{text}`"), "write a number such as `30`")),
        },
    }
}

/// Parses a share. `error_rate < 1` is rejected, because it could mean 1%, 1 error, or 100%.
fn share(text: &str) -> Result<f64, Problem> {
    let ratio = unit::ratio(text)?;
    if !text.ends_with('%') && ratio >= 1.0 {
        return Err(Problem::new(
            format!("ambiguous share `{text}`"),
            format!("write a percentage, such as `{text}%`"),
        ));
    }
    if ratio > 1.0 {
        return Err(Problem::new(format!("share `{text}` is above 100%"), "write a lower percentage"));
    }
    Ok(ratio)
}

/// Rejects thresholds that are valid in the grammar but make no sense.
fn makes_sense(t: &Threshold) -> Result<(), Problem> {
    let name = t.subject.name();
    if let Some(scope) = t.scope.as_ref().filter(|scope| !scope.names_metric())
        && !t.subject.has_scope()
    {
        return Err(Problem::new(
            format!("`{name}` applies to the whole run, not to `{scope}`"),
            format!("remove `{scope}`"),
        ));
    }
    if t.subject.family().is_some() {
        if !t.scope.as_ref().is_some_and(Scope::names_metric) {
            return Err(Problem::new(
                format!("missing metric name in `{}`", t.text),
                format!("write `{name}{{metric: NAME}}`"),
            ));
        }
        if t.over_ns.is_some() || t.abort_after_ns.is_some() {
            return Err(Problem::new(
                format!("`over` and `abort after` do not apply to user-defined metrics, as in `{}`", t.text),
                "remove `over` and `abort after`",
            ));
        }
    }
    if t.subject == Subject::GrpcStatus && t.scope.is_none() {
        return Err(Problem::new(
            format!("missing status in `{}`", t.text),
            format!("write a status, as in `{name}{{status: UNAVAILABLE}} < 1%`"),
        ));
    }
    if t.subject == Subject::GroupTime && !matches!(t.scope, Some(Scope::Group(_))) {
        return Err(Problem::new(
            format!("missing group in `{}`", t.text),
            format!("write a group, as in `{name}{{group: NAME}} p95 < 2s`"),
        ));
    }
    if let Some(agents) = t.scope.as_ref().and_then(Scope::agents)
        && (t.over_ns.is_some() || t.abort_after_ns.is_some() || t.subject.is_of_outages())
    {
        let what = if t.subject.is_of_outages() { "outages" } else { "`over` and `abort after`" };
        return Err(Problem::new(
            format!("{what} apply to the load of all agents, not to `{agents}`, as in `{}`", t.text),
            "remove the scope, or use another threshold",
        ));
    }
    if t.subject.is_of_outages() && (t.over_ns.is_some() || t.abort_after_ns.is_some()) {
        return Err(Problem::new(
            format!("`over` and `abort after` do not apply to outages, as in `{}`", t.text),
            "use `error_rate < 50%` with `over` or `abort after`",
        ));
    }
    if t.subject == Subject::LongestOutage && t.value < OUTAGE_LEAST_NS as f64 {
        return Err(Problem::new(
            format!(
                "invalid limit in `{}`: an outage lasts at least {} s",
                t.text,
                OUTAGE_LEAST_NS / TICK_NS
            ),
            "write `longest_outage < 1s`, or a longer limit",
        ));
    }
    if t.subject == Subject::Achieved && (t.over_ns.is_some() || t.abort_after_ns.is_some()) {
        return Err(Problem::new(
            format!("`over` and `abort after` do not apply to `achieved`, as in `{}`", t.text),
            "use `throughput > N/s` with `over` or `abort after`",
        ));
    }
    let grows = t.subject.kind() == Kind::Count && t.over_ns.is_none();
    if grows && t.abort_after_ns.is_some() && (t.comparison.is_upwards() || t.comparison == Comparison::Equal)
    {
        return Err(Problem::new(
            format!("`{}` would stop every run: a count starts at 0", t.text),
            "add a window, such as `over 10s`, before `abort after`",
        ));
    }
    Ok(())
}
