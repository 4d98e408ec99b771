//! Expectations that an experiment confirms or refutes, such as `bcrypt lowers capacity by 2x`.
//!
//! The grammar is `WHO (raises|lowers|keeps) FIGURE [by FACTOR] [against WHOM]`. WHO and WHOM are values of one axis.
//! FIGURE is `capacity`, `throughput`, `error_rate`, `mean`, or a percentile of `response_time` or `service_time`.
//! FACTOR is `2x` or `30%`. `keeps ... within 5%` means that no difference is larger than that.

use crate::Problem;
use crate::threshold::Subject;
use serde::{Deserialize, Serialize};

/// An expectation about two values of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Expectation {
    /// The text as written.
    pub text: String,
    /// A value of some axis.
    pub who: String,
    /// The value to compare with; `None` means the other of two values, or else the first.
    pub against: Option<String>,
    pub direction: Direction,
    pub figure: Figure,
    pub by: Option<By>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Raises,
    Lowers,
    Keeps,
}

/// The metric to compare.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Highest load that passes, from a search or a sweep.
    Capacity,
    /// Completed requests per second.
    Throughput,
    /// Failed requests / completed requests.
    ErrorRate,
    /// Mean response time.
    Mean,
    /// A quantile, 0–1, of the response time or the service time.
    Percentile { q: f64, service: bool },
}

/// The size of a difference.
///
/// [`Expectation::parse`] returns factors above 1 and ratios above 0, and below 1 for `lowers`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// `2x`: the larger value divided by the smaller one.
    Factor(f64),
    /// `30%`, as a ratio of the value to compare with.
    Ratio(f64),
}

impl From<Expectation> for String {
    fn from(expectation: Expectation) -> String {
        expectation.text
    }
}

impl TryFrom<String> for Expectation {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        Expectation::parse(&text)
    }
}

impl Expectation {
    /// Parses an expectation in the grammar of this module.
    ///
    /// # Errors
    /// Returns an error that names the missing or invalid part.
    pub fn parse(text: &str) -> Result<Expectation, Problem> {
        const EXAMPLE: &str = "write an expectation such as `bcrypt lowers capacity by 2x` or \
                               `go keeps response_time p99 within 5% against node`";
        let words: Vec<&str> = text.split_whitespace().collect();
        let verb = |word: &&str| direction(word).is_some();
        let Some(at) = words.iter().position(verb).filter(|at| *at > 0) else {
            return Err(Problem::new(format!("missing `raises`, `lowers`, or `keeps` in `{text}`"), EXAMPLE));
        };
        let direction = direction(words[at]).unwrap_or(Direction::Keeps);
        let rest = &words[at + 1..];
        let cut = rest.iter().position(|w| matches!(*w, "by" | "within" | "against")).unwrap_or(rest.len());
        let name = rest[..cut].join(" ");
        let figure = figure(&name).ok_or_else(|| {
            let help = Subject::renamed(&name)
                .map_or(EXAMPLE.into(), |subject| format!("did you mean `{}`?", subject.name()));
            Problem::new(format!("unknown metric `{name}` in `{text}`"), help)
        })?;
        let (mut by, mut against) = (None, None);
        let mut tail = &rest[cut..];
        while let [word, value, more @ ..] = tail {
            match *word {
                "by" | "within" if by.is_some() => {
                    return Err(Problem::new(
                        format!("unexpected second amount `{word} {value}` in `{text}`"),
                        "keep one of them",
                    ));
                }
                "by" | "within" => {
                    let read = amount(value).ok_or_else(|| {
                        let message = format!("invalid amount `{value}` in `{text}`");
                        Problem::new(message, "write a factor such as `2x`, or a percentage such as `30%`")
                    })?;
                    by = Some(possible(read, direction, value, text)?);
                    tail = more;
                }
                _ => {
                    against = Some(tail[1..].join(" "));
                    tail = &[];
                }
            }
        }
        if !tail.is_empty() {
            return Err(Problem::new(format!("missing value after `{}` in `{text}`", tail[0]), EXAMPLE));
        }
        if direction == Direction::Keeps && by.is_none() {
            let message = format!("missing tolerance in `{text}`");
            return Err(Problem::new(message, "add a tolerance, such as `within 5%`"));
        }
        Ok(Expectation { text: text.into(), who: words[..at].join(" "), against, direction, figure, by })
    }
}

fn direction(word: &str) -> Option<Direction> {
    match word {
        "raises" => Some(Direction::Raises),
        "lowers" => Some(Direction::Lowers),
        "keeps" => Some(Direction::Keeps),
        _ => None,
    }
}

fn figure(text: &str) -> Option<Figure> {
    match text {
        "capacity" => return Some(Figure::Capacity),
        "throughput" => return Some(Figure::Throughput),
        "error_rate" => return Some(Figure::ErrorRate),
        "mean" | "response_time mean" => return Some(Figure::Mean),
        _ => {}
    }
    let (subject, percentile) = text.rsplit_once(' ').unwrap_or(("response_time", text));
    let service = match subject {
        "response_time" => false,
        "service_time" => true,
        _ => return None,
    };
    // 99.9 / 100 is slightly more than 0.999 in binary.
    let q = (percentile.strip_prefix('p')?.parse::<f64>().ok()? * 1e6).round() / 1e8;
    (q > 0.0 && q < 1.0).then_some(Figure::Percentile { q, service })
}

fn amount(text: &str) -> Option<By> {
    let (digits, factor) = match text.strip_suffix('%') {
        Some(digits) => (digits, false),
        None => (text.strip_suffix(['x', '×'])?, true),
    };
    let n: f64 = digits.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)?;
    Some(if factor { By::Factor(n) } else { By::Ratio(n / 100.0) })
}

/// Rejects amounts that every result meets, or none.
fn possible(by: By, direction: Direction, value: &str, text: &str) -> Result<By, Problem> {
    match by {
        // The larger value divided by the smaller one is never below 1: the verb expresses the direction.
        By::Factor(factor) if factor <= 1.0 => Err(Problem::new(
            format!("invalid factor `{value}` in `{text}`: it must be above 1"),
            "write a factor such as `2x`, and express the direction with `raises` or `lowers`",
        )),
        By::Ratio(ratio) if ratio >= 1.0 && direction == Direction::Lowers => Err(Problem::new(
            format!("invalid amount `{value}` in `{text}`: nothing can be lowered by 100% or more"),
            "write less than `100%`, or a factor such as `2x`",
        )),
        By::Factor(_) | By::Ratio(_) => Ok(by),
    }
}
