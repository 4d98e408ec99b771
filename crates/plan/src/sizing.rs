//! Converts visitors to users and requests per second, and back, to determine how large a load must be.
//!
//! Two laws connect these numbers. Little's law, N = A S: concurrent users are arrivals per second times the session
//! length (Little, A Proof for the Queuing Formula L = lambda W, 1961). The response time law, X = N / (Z + R): a user
//! sends a request after each think time and response time (Denning and Buzen, The Operational Analysis of Queueing
//! Network Models, 1978). Each step keeps its numbers, so that a reader can check it by hand.

mod idle;
mod number;
mod solve;

pub use number::number;

use crate::Problem;
use crate::unit::SECOND_NS;
use serde::Serialize;

/// Days per month. Real months differ by 3%, and estimates of visitors by far more.
pub const MONTH_DAYS: f64 = 30.0;

/// A number of visitors per period.
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

    /// Returns its number of days; `None` for an hour, to which the active hours of a day do not apply.
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
    /// Returns an error if the number or the period is invalid, or if the number is not above 0.
    pub fn parse(text: &str) -> Result<Visitors, Problem> {
        const EXPECTED: &str = "write a number per period, such as `100000/month` or `5k/day`";
        let wrong = || Problem::new(format!("invalid number of visitors `{text}`"), EXPECTED);
        let (digits, period) = text.trim().split_once('/').ok_or_else(wrong)?;
        let per = match period.trim() {
            "h" | "hour" => Period::Hour,
            "d" | "day" => Period::Day,
            "w" | "week" => Period::Week,
            "month" => Period::Month,
            // Everywhere else, `m` is a minute.
            "m" | "mo" => {
                return Err(Problem::new(format!("ambiguous period in `{text}`"), "write `/month`"));
            }
            other => {
                return Err(Problem::new(
                    format!("unknown period `{other}`"),
                    "use `hour`, `day`, `week`, or `month`",
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

/// The known numbers. All others are derived from them as far as possible.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizingInput {
    pub visitors: Option<Visitors>,
    /// The part of a day in which visitors come, ns; by default the whole day.
    pub active_ns: Option<u64>,
    /// Ratio of the busiest hour to the mean; by default 1.
    pub peak: Option<f64>,
    /// Length of a session, ns.
    pub session_ns: Option<u64>,
    /// Requests per session.
    pub pages: Option<f64>,
    /// Pause of a user between a response and the next request, ns.
    pub think_ns: Option<u64>,
    /// Response time, ns; by default 0.
    pub response_ns: Option<u64>,
    /// Concurrent users in the busiest hour.
    pub users: Option<f64>,
    /// Requests per second in the busiest hour.
    pub rate_per_s: Option<f64>,
}

/// One step of the calculation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    pub name: &'static str,
    /// The formula with its numbers: `277.8/h x 300 s / 3600`.
    pub formula: String,
    pub value: f64,
    /// The unit of the value: `/day`, `/h`, `/s`, `s`, `users`, or empty for a plain number.
    pub unit: &'static str,
}

/// The size of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizing {
    /// The steps, in the order of their derivation; at least one.
    pub lines: Vec<Line>,
    /// Assumptions in place of missing numbers.
    pub assumptions: Vec<String>,
    /// Concurrent users in the busiest hour, with a fraction; a load uses the next whole number.
    pub users: Option<f64>,
    /// Requests per second in the busiest hour.
    pub rate_per_s: Option<f64>,
    /// Sessions that begin per second in the busiest hour.
    pub arrivals_per_s: Option<f64>,
    pub visitors_per_month: Option<f64>,
}

/// Derives all numbers that follow from the known ones.
///
/// # Errors
/// Returns errors for invalid numbers, for numbers that contradict each other by more than 2%, for numbers that no step
/// uses, and if nothing can be derived.
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
                format!("`{name}` must be above 0, found `{number}`"),
                format!("write a number such as `{example}`"),
            ));
        }
    }
    if let Some(peak) = asked.peak.filter(|peak| !peak.is_finite() || *peak < 1.0) {
        wrong.push(Problem::new(
            format!("the peak must be at least 1, found `{peak}`"),
            "write the ratio of the busiest hour to the mean, such as `3`",
        ));
    }
    if let Some(active_ns) = asked.active_ns.filter(|ns| *ns == 0 || *ns > 86_400 * SECOND_NS) {
        let hours = active_ns as f64 / 3600e9;
        wrong.push(Problem::new(
            format!("the active hours must be above 0 and at most 24, found `{hours}`"),
            "write a part of a day, such as `12h`",
        ));
    }
    if asked.session_ns == Some(0) {
        let hint = "write a duration such as `5min`";
        wrong.push(Problem::new("the session must be longer than 0", hint));
    }
    if asked.think_ns == Some(0) && asked.response_ns.unwrap_or(0) == 0 {
        wrong.push(Problem::new(
            "the think time and the response time must not both be 0",
            "add a response time, such as `--response 300ms`",
        ));
    }
    wrong
}
