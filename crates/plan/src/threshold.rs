//! `response_time p99 < 250ms`: a condition that a run must meet, and the grammar it is written in.

use crate::unit;
use serde::{Deserialize, Serialize};

/// What a threshold looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Times, in ns.
    ResponseTime,
    ServiceTime,
    FirstByte,
    /// Failed / finished, a ratio.
    Errors,
    /// Achieved / offered rate of the open model, a ratio.
    Achieved,
    /// Finished requests per second.
    Rate,
    /// Finished requests.
    Requests,
}

/// Which figure of a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    Quantile(f64),
    Mean,
    Min,
    Max,
    /// Subjects that are one number.
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "==")]
    Equal,
}

impl Comparison {
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
            Comparison::Equal => left == right,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Equal => "==",
        }
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// As written, white space folded.
    pub text: String,
    pub subject: Subject,
    pub statistic: Statistic,
    pub comparison: Comparison,
    /// ns for times, a ratio for errors and achieved, per second for rate.
    pub value: f64,
    /// True for those that nobody wrote, see [`with_implied`].
    #[serde(default)]
    pub implied: bool,
}

const EXPECTED: &str = "expected something like `response_time p99 < 250ms`, \
    `errors < 0.1%`, `achieved >= 99%` or `rate > 500/s`";

/// Reads one threshold.
///
/// # Errors
/// A sentence naming the part that cannot be read, with the choices.
pub fn parse(text: &str) -> Result<Threshold, String> {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = folded.find(['<', '>', '=', '!']).ok_or(format!("`{folded}` compares nothing; {EXPECTED}"))?;
    let (left, right) = folded.split_at(at);
    let (comparison, value) = if let Some(v) = right.strip_prefix("<=") {
        (Comparison::LessOrEqual, v)
    } else if let Some(v) = right.strip_prefix(">=") {
        (Comparison::GreaterOrEqual, v)
    } else if let Some(v) = right.strip_prefix("==") {
        (Comparison::Equal, v)
    } else if let Some(v) = right.strip_prefix('<') {
        (Comparison::Less, v)
    } else if let Some(v) = right.strip_prefix('>') {
        (Comparison::Greater, v)
    } else {
        return Err(format!("`{right}` is no comparison; expected `<`, `<=`, `>`, `>=` or `==`"));
    };
    let mut words = left.split_whitespace();
    let name = words.next().ok_or(format!("`{folded}` names nothing to compare; {EXPECTED}"))?;
    let subject = match name {
        "response_time" => Subject::ResponseTime,
        "service_time" => Subject::ServiceTime,
        "first_byte" => Subject::FirstByte,
        "errors" => Subject::Errors,
        "achieved" => Subject::Achieved,
        "rate" => Subject::Rate,
        "requests" => Subject::Requests,
        other => {
            return Err(format!(
                "`{other}` is nothing that can be compared; there are `response_time`, `service_time`, `first_byte`, \
                 `errors`, `achieved`, `rate` and `requests`"
            ));
        }
    };
    let is_time = matches!(subject, Subject::ResponseTime | Subject::ServiceTime | Subject::FirstByte);
    let statistic = match (is_time, words.next()) {
        (false, None) => Statistic::Value,
        (false, Some(word)) => {
            return Err(format!("`{name}` is one number: `{word}` has no place behind it"));
        }
        (true, None) => return Err(format!("which figure of `{name}`? {EXPECTED}")),
        (true, Some(word)) => statistic(word)?,
    };
    if let Some(word) = words.next() {
        return Err(format!("`{word}` is one word too many in `{folded}`; {EXPECTED}"));
    }
    let value = value.trim();
    let value = match subject {
        _ if is_time => unit::duration_ns(value)? as f64,
        Subject::Errors | Subject::Achieved => share(value)?,
        Subject::Rate => unit::rate_per_s(value)?,
        _ => value.parse::<u64>().map_err(|_| format!("`{value}` is no whole number"))? as f64,
    };
    Ok(Threshold { text: folded, subject, statistic, comparison, value, implied: false })
}

/// A share of all: `errors < 1` means one per cent to one reader, one error to the next, and would be 100 % here.
fn share(text: &str) -> Result<f64, String> {
    let ratio = unit::ratio(text)?;
    if !text.ends_with('%') && ratio >= 1.0 {
        return Err(format!("`{text}` is no share of the requests; write per cent, such as `{text}%`"));
    }
    if ratio > 1.0 {
        return Err(format!("`{text}` is more than all requests"));
    }
    Ok(ratio)
}

fn statistic(word: &str) -> Result<Statistic, String> {
    match word {
        "mean" | "avg" => Ok(Statistic::Mean),
        "min" => Ok(Statistic::Min),
        "max" => Ok(Statistic::Max),
        "median" => Ok(Statistic::Quantile(0.5)),
        _ => match word.strip_prefix('p').and_then(|p| p.parse::<f64>().ok()) {
            Some(p) if p > 0.0 && p < 100.0 => Ok(Statistic::Quantile(p / 100.0)),
            _ => Err(format!(
                "`{word}` is no figure of a time; expected `p50`, `p99`, `p99.9`, `mean`, `min` or `max`"
            )),
        },
    }
}

/// What was written, and behind it the implied thresholds whose subject nobody named: a limit for the p99 says
/// nothing about errors, and a service that answers every request with 500 must not pass because it is quick.
pub fn with_implied(written: Vec<Threshold>, open: bool) -> Vec<Threshold> {
    let mut all = implied(open);
    all.retain(|implied| written.iter().all(|threshold| threshold.subject != implied.subject));
    [written, all].concat()
}

/// The thresholds that hold until another one names their subject: no errors, and in the open model at least 99 % of
/// the offered rate achieved.
pub fn implied(open: bool) -> Vec<Threshold> {
    let make = |text: &str, subject, comparison, value| Threshold {
        text: text.into(),
        subject,
        statistic: Statistic::Value,
        comparison,
        value,
        implied: true,
    };
    let mut all = vec![make("errors == 0%", Subject::Errors, Comparison::Equal, 0.0)];
    if open {
        all.push(make("achieved >= 99%", Subject::Achieved, Comparison::GreaterOrEqual, 0.99));
    }
    all
}
