//! The grammar of k6's thresholds: `AGGREGATOR OPERATOR NUMBER` for each metric, which may have tags.

use super::{Abort, Aggregator, BUILT_IN, Kind, Operator, Threshold};
use crate::options::code;
use crate::value::{self, describe};
use plimsoll_build::nearest::nearest;
use plimsoll_plan::diag::Place;
use plimsoll_plan::series::Custom;
use plimsoll_plan::{Diagnostic, Problem};
use serde_json::Value;

const EXPECTED: &str = "write a threshold such as `p(95) < 500`, `rate < 0.01`, or `count > 100`";

/// Operators; longer ones first.
const OPERATORS: [(&str, Operator); 7] = [
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Reads the `thresholds` of options, and the warnings about them. `metrics` are those that the script defines.
///
/// # Errors
/// Returns every mistake found: unknown metrics, aggregators that a metric does not have, and invalid expressions.
pub fn read(
    value: &Value,
    metrics: &[(String, Custom)],
) -> Result<(Vec<Threshold>, Vec<String>), Vec<Diagnostic>> {
    let (mut all, mut notes, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let mut report = |problem: Problem| wrong.push(Diagnostic::of(code::THRESHOLD, Place::Whole, problem));
    let Value::Object(entries) = value else {
        if !value.is_null() {
            let message = format!("invalid `thresholds`: expected an object, not `{}`", describe(value));
            report(Problem::new(message, "write `{ http_req_duration: [\"p(95) < 500\"] }`"));
            return Err(wrong);
        }
        return Ok((all, notes));
    };
    for (key, value) in entries {
        let (metric, tags) = match sub_metric(key) {
            Ok(parts) => parts,
            Err(problem) => {
                report(problem);
                continue;
            }
        };
        let kind = match kind_of(&metric, metrics) {
            Ok(kind) => kind,
            Err(problem) => {
                report(problem);
                continue;
            }
        };
        // A value that is not a list is one threshold.
        let single = std::slice::from_ref(value);
        let conditions = value.as_array().map_or(single, Vec::as_slice);
        for condition in conditions {
            let read = one(condition, &mut notes).and_then(|(source, abort)| {
                let (aggregator, operator, limit) = parse(&source)?;
                if !kind.has(aggregator) {
                    let message = format!(
                        "invalid aggregator `{aggregator}` in threshold `{source}`: `{metric}` is a {}",
                        kind.name()
                    );
                    return Err(Problem::new(message, format!("use {}", kind.aggregators())));
                }
                let (key, metric, tags) = (key.clone(), metric.clone(), tags.clone());
                Ok(Threshold { key, metric, kind, tags, source, aggregator, operator, limit, abort })
            });
            match read {
                Ok(threshold) => all.push(threshold),
                Err(problem) => report(problem.within(format!("`thresholds.{key}`: "))),
            }
        }
    }
    all.sort_by(|a: &Threshold, b| a.key.cmp(&b.key));
    if wrong.is_empty() { Ok((all, notes)) } else { Err(wrong) }
}

/// Reads one condition: an expression, or an object with one.
fn one(value: &Value, notes: &mut Vec<String>) -> Result<(String, Option<Abort>), Problem> {
    let fields = match value {
        Value::String(source) => return Ok((source.clone(), None)),
        Value::Object(fields) => fields,
        other => return Err(Problem::new(format!("invalid threshold `{}`", describe(other)), EXPECTED)),
    };
    let (mut source, mut aborts, mut delay_ns) = (String::new(), false, 0);
    for (key, value) in fields {
        match key.as_str() {
            "threshold" => source = value::string(value)?.unwrap_or_default(),
            "abortOnFail" => aborts = value::boolean(value)?.unwrap_or(false),
            "delayAbortEval" => delay_ns = value::duration_ns(value)?.unwrap_or(0),
            other => notes.push(format!("Unknown key `{other}` of a threshold has no effect.")),
        }
    }
    if source.is_empty() {
        return Err(Problem::new("missing `threshold` in an object", EXPECTED));
    }
    Ok((source, aborts.then_some(Abort { delay_ns })))
}

/// Splits `metric{key:value,...}` into its name and its tags.
fn sub_metric(key: &str) -> Result<(String, Vec<(String, String)>), Problem> {
    let wrong = |what: &str| {
        Problem::new(
            format!("invalid metric `{key}` of a threshold: {what}"),
            "write a metric with tags such as `http_req_duration{status:200}`",
        )
    };
    let Some((name, rest)) = key.split_once('{') else {
        return match key.contains('}') {
            true => Err(wrong("missing `{`")),
            false => Ok((key.trim().to_owned(), Vec::new())),
        };
    };
    let inner = rest.trim_end().strip_suffix('}').ok_or_else(|| wrong("missing `}` at the end"))?;
    if inner.trim().is_empty() {
        return Err(wrong("no tags between the braces"));
    }
    let clean = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let tags = inner.split(',').map(|tag| match tag.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((clean(name), clean(value))),
        _ => Err(wrong("a tag has the form `name:value`")),
    });
    Ok((name.trim().to_owned(), tags.collect::<Result<_, _>>()?))
}

fn kind_of(metric: &str, custom: &[(String, Custom)]) -> Result<Kind, Problem> {
    let built_in = BUILT_IN.iter().find(|(name, _)| *name == metric).map(|(_, kind)| *kind);
    let own = || custom.iter().find(|(name, _)| name == metric).map(|(_, kind)| Kind::from(*kind));
    if let Some(kind) = built_in.or_else(own) {
        return Ok(kind);
    }
    let message = format!("unknown metric `{metric}` in `thresholds`");
    if metric.starts_with("browser_") {
        return Err(Problem::new(message, "remove it: plimsoll has no browser"));
    }
    let names = BUILT_IN.iter().map(|(name, _)| *name).chain(custom.iter().map(|(name, _)| name.as_str()));
    let hint = match nearest(metric, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if custom.is_empty() => "define it in the script, such as `new Trend(\"name\")`".to_owned(),
        None => {
            let own: Vec<String> = custom.iter().map(|(name, _)| format!("`{name}`")).collect();
            format!("use a metric of k6, or one of the script: {}", own.join(", "))
        }
    };
    Err(Problem::new(message, hint))
}

/// Parses an expression such as `p(95) < 500`.
///
/// # Errors
/// Returns an error that names the invalid part.
pub fn parse(source: &str) -> Result<(Aggregator, Operator, f64), Problem> {
    let wrong = |what: String| Problem::new(format!("invalid threshold `{source}`: {what}"), EXPECTED);
    let at = source.find(['<', '>', '=', '!']).ok_or_else(|| wrong("missing comparison".into()))?;
    let (left, right) = source.split_at(at);
    let found = OPERATORS.iter().find(|(sign, _)| right.starts_with(sign));
    let (sign, operator) = found.ok_or_else(|| {
        let sign: String = right.chars().take_while(|c| "<>=!".contains(*c)).collect();
        wrong(format!("unknown comparison `{sign}`"))
    })?;
    let aggregator = aggregator(left.trim()).ok_or_else(|| match left.trim() {
        "" => wrong("missing aggregator".into()),
        other => wrong(format!("unknown aggregator `{other}`")),
    })?;
    let number = right[sign.len()..].trim();
    let limit = number.parse::<f64>().ok().filter(|limit| limit.is_finite());
    let limit = limit.ok_or_else(|| match number {
        "" => wrong("missing number".into()),
        other => wrong(format!("`{other}` must be a number without a unit")),
    })?;
    Ok((aggregator, *operator, limit))
}

fn aggregator(text: &str) -> Option<Aggregator> {
    if let Some(inner) = text.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')) {
        let percent = inner.trim().parse::<f64>().ok()?;
        return (0.0..=100.0).contains(&percent).then_some(Aggregator::Percentile(percent));
    }
    match text {
        "avg" => Some(Aggregator::Avg),
        "min" => Some(Aggregator::Min),
        "max" => Some(Aggregator::Max),
        "med" => Some(Aggregator::Med),
        "count" => Some(Aggregator::Count),
        "rate" => Some(Aggregator::Rate),
        "value" => Some(Aggregator::Value),
        _ => None,
    }
}
