//! `offered - achieved >= 50/s`: the rule that ends a ladder.

use serde::{Deserialize, Serialize};

/// When a ladder ends. The step that fulfils it is the last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Fewer answers than arrivals by this much or more.
    Shortfall(Limit),
    /// More requests than this failed below HTTP: refused, reset, timed out, closed without an answer.
    SocketErrors(u64),
    /// A threshold is missed.
    Missed,
}

/// A part of the offered rate, or so many per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Ratio(f64),
    PerSecond(f64),
}

impl Until {
    /// Parses `offered - achieved >= 50/s`, `offered - achieved > 5%`, `socket_errors > 0` or `missed`.
    ///
    /// # Errors
    /// A sentence that tells what is understood.
    pub fn parse(text: &str) -> Result<Until, String> {
        let wrong = || {
            format!(
                "`{text}` is no end of a ladder; expected `offered - achieved >= 50/s`, `offered - achieved > 5%`, \
                 `socket_errors > 0` or `missed`"
            )
        };
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if plain == "missed" {
            return Ok(Until::Missed);
        }
        let number = |digits: &str| digits.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        if let Some(rest) = plain.strip_prefix("offered-achieved>") {
            let rest = rest.strip_prefix('=').unwrap_or(rest);
            let limit = match (rest.strip_suffix('%'), rest.strip_suffix("/s")) {
                (Some(percent), _) => number(percent).map(|n| Limit::Ratio(n / 100.0)),
                (_, Some(rate)) => number(rate).map(Limit::PerSecond),
                _ => None,
            };
            return limit.map(Until::Shortfall).ok_or_else(wrong);
        }
        let count = plain.strip_prefix("socket_errors>").and_then(|n| n.parse().ok());
        count.map(Until::SocketErrors).ok_or_else(wrong)
    }
}
