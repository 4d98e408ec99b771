//! From visitors to users and requests per second, and back: how large a load has to be before one is written.
//!
//! Two laws tie all of it together. Little's law, N = A S: users at a time are arrivals per second times the length of
//! a session (Little, A Proof for the Queuing Formula L = lambda W, 1961). The response time law, X = N / (Z + R): a
//! user sends a request each time that it has thought and been answered (Denning and Buzen, The Operational Analysis
//! of Queueing Network Models, 1978). Each step is kept with its numbers, so that a reader can check it by hand.

mod idle;
mod number;
mod solve;

pub use number::number;

use crate::Problem;
use crate::unit::SECOND_NS;
use serde::Serialize;

/// Days in the month of a size. Calendars differ by 3%, guesses of visitors by far more.
pub const MONTH_DAYS: f64 = 30.0;

/// So many visitors in some time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Visitors {
    pub number: f64,
    pub per: Period,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    Hour,
    Day,
    Week,
    Month,
}

impl Period {
    pub const fn name(self) -> &'static str {
        match self {
            Period::Hour => "hour",
            Period::Day => "day",
            Period::Week => "week",
            Period::Month => "month",
        }
    }

    /// Its days; `None` for what is shorter than one, to which the active hours of a day mean nothing.
    pub const fn days(self) -> Option<f64> {
        match self {
            Period::Hour => None,
            Period::Day => Some(1.0),
            Period::Week => Some(7.0),
            Period::Month => Some(MONTH_DAYS),
        }
    }
}

impl Visitors {
    /// Parses `100000/month`, `3.5k/day`, `2M/week` or `280/hour`.
    ///
    /// # Errors
    /// A sentence when the number, or the time behind the stroke, cannot be read or is not above 0.
    pub fn parse(text: &str) -> Result<Visitors, Problem> {
        const EXPECTED: &str = "expected a number over a time, such as `100000/month` or `5k/day`";
        let wrong = || Problem::new(format!("`{text}` is no number of visitors"), EXPECTED);
        let (digits, period) = text.trim().split_once('/').ok_or_else(wrong)?;
        let per = match period.trim() {
            "h" | "hour" => Period::Hour,
            "d" | "day" => Period::Day,
            "w" | "week" => Period::Week,
            "month" => Period::Month,
            // A minute to everything else in this tool.
            "m" | "mo" => {
                return Err(Problem::new(format!("`{text}` may mean a minute or a month"), "write `/month`"));
            }
            other => {
                return Err(Problem::new(
                    format!("`{other}` is no time of visitors"),
                    "there are `hour`, `day`, `week` and `month`",
                ));
            }
        };
        let digits = digits.trim().replace('_', "");
        let (digits, scale) = match (digits.strip_suffix(['k', 'K']), digits.strip_suffix('M')) {
            (Some(digits), _) => (digits, 1e3),
            (_, Some(digits)) => (digits, 1e6),
            _ => (digits.as_str(), 1.0),
        };
        let number = digits.parse::<f64>().map_err(|_| wrong())? * scale;
        (number.is_finite() && number > 0.0).then_some(Visitors { number, per }).ok_or_else(wrong)
    }
}

/// What is known. Everything else is derived from it, as far as it can be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizingInput {
    pub visitors: Option<Visitors>,
    /// The part of a day in which visitors come, ns; all of it when absent.
    pub active_ns: Option<u64>,
    /// How much busier the busiest hour is than the mean; 1 when absent.
    pub peak: Option<f64>,
    /// Length of a visit, ns.
    pub session_ns: Option<u64>,
    /// Requests of a visit.
    pub pages: Option<f64>,
    /// Pause of a user between an answer and the next request, ns.
    pub think_ns: Option<u64>,
    /// Time until an answer, ns; 0 when absent.
    pub response_ns: Option<u64>,
    /// Users at the same time, in the busiest hour.
    pub users: Option<f64>,
    /// Requests per second, in the busiest hour.
    pub rate_per_s: Option<f64>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    pub name: &'static str,
    /// With the numbers in it: `277.8/h x 300 s / 3600`.
    pub formula: String,
    pub value: f64,
    /// Of the value: `/day`, `/h`, `/s`, `s`, `users`, or nothing for a plain number.
    pub unit: &'static str,
}

/// A load as large as what is known makes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizing {
    /// In the order in which one follows from the others; at least one.
    pub lines: Vec<Line>,
    /// What was taken for granted because nothing said it.
    pub assumptions: Vec<String>,
    /// Users at the same time in the busiest hour, with a fraction; a load takes the next whole number.
    pub users: Option<f64>,
    /// Requests per second in the busiest hour.
    pub rate_per_s: Option<f64>,
    /// Visits that begin per second in the busiest hour.
    pub arrivals_per_s: Option<f64>,
    pub visitors_per_month: Option<f64>,
}

/// Derives all that follows.
///
/// # Errors
/// Sentences, each with its mend: figures that cannot be, that contradict each other by more than 2%, from which
/// nothing follows, or that no step of the answer uses.
pub fn size(asked: &SizingInput) -> Result<Sizing, Vec<Problem>> {
    let wrong = impossible(asked);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let sizing = solve::solve(asked)?;
    let idle = idle::idle(asked, &sizing);
    if idle.is_empty() { Ok(sizing) } else { Err(idle) }
}

fn impossible(asked: &SizingInput) -> Vec<Problem> {
    let mut wrong = Vec::new();
    let numbers = [
        ("visitors", asked.visitors.map(|visitors| visitors.number), "100000/month"),
        ("users", asked.users, "50"),
        ("rate", asked.rate_per_s, "100/s"),
        ("pages", asked.pages, "6"),
    ];
    for (name, number, example) in numbers {
        if let Some(number) = number.filter(|number| !number.is_finite() || *number <= 0.0) {
            wrong.push(Problem::new(
                format!("`{number}` is no size of `{name}`"),
                format!("give a number above 0, such as `{example}`"),
            ));
        }
    }
    if let Some(peak) = asked.peak.filter(|peak| !peak.is_finite() || *peak < 1.0) {
        wrong.push(Problem::new(
            format!("a peak of `{peak}` is below the mean"),
            "give how many times busier it is, such as `3`",
        ));
    }
    if let Some(active_ns) = asked.active_ns.filter(|ns| *ns == 0 || *ns > 86_400 * SECOND_NS) {
        let hours = active_ns as f64 / 3600e9;
        wrong.push(Problem::new(
            format!("a day has no `{hours}` active hours"),
            "give a part of it, such as `12h`",
        ));
    }
    if asked.session_ns == Some(0) {
        wrong.push(Problem::new("a session of no time meets nobody", "give its length, such as `5min`"));
    }
    if asked.think_ns == Some(0) && asked.response_ns.unwrap_or(0) == 0 {
        wrong.push(Problem::new(
            "without a think and a response time a rate has no end",
            "give one, such as `--response 300ms`",
        ));
    }
    wrong
}
