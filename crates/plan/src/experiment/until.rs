//! The stop condition of a ladder, such as `offered - achieved >= 50/s`.

use crate::Problem;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A stop condition. The first step that meets it is the last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The achieved rate is below the offered rate by this much.
    Shortfall(Bound),
    /// More requests than this failed below HTTP: refused, reset, timed out, or closed without a response.
    SocketErrors(u64),
    /// A threshold is missed.
    Missed,
}

/// `>` or `>=` a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    pub limit: Limit,
    /// Whether the comparison is `>=`, so that the limit itself ends the ladder.
    pub inclusive: bool,
}

/// A share of the offered rate, or a number per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// 0–1.
    Ratio(f64),
    PerSecond(f64),
}

impl Limit {
    /// Returns whether the limit is 0.
    pub fn is_none(self) -> bool {
        matches!(self, Limit::Ratio(n) | Limit::PerSecond(n) if n <= 0.0)
    }
}

impl Until {
    /// Parses `offered - achieved >= 50/s`, `offered - achieved > 5%`, `socket_errors > 0` or `missed`.
    ///
    /// # Errors
    /// Returns an error if the text is invalid, or if the condition is always or never met.
    pub fn parse(text: &str) -> Result<Until, Problem> {
        let wrong = || {
            Problem::new(
                format!("invalid stop condition `{text}`"),
                "write `offered - achieved >= 50/s`, `offered - achieved > 5%`, \
                 `socket_errors > 0`, or `missed`",
            )
        };
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if plain == "missed" {
            return Ok(Until::Missed);
        }
        let (what, limit) = plain.split_once('>').ok_or_else(wrong)?;
        let (limit, inclusive) = limit.strip_prefix('=').map_or((limit, false), |limit| (limit, true));
        let always = |fixed: &str| {
            Problem::new(
                format!("stop condition `{text}` is always met: the search would stop at its first level"),
                format!("write `{fixed}`"),
            )
        };
        match what {
            "offered-achieved" => {
                let limit = read(limit).ok_or_else(wrong)?;
                let is_never = match limit {
                    Limit::Ratio(ratio) if inclusive => ratio > 1.0,
                    Limit::Ratio(ratio) => ratio >= 1.0,
                    Limit::PerSecond(_) => false,
                };
                if is_never {
                    return Err(Problem::new(
                        format!("stop condition `{text}` is never met: all arrivals are 100%"),
                        "write a lower limit, such as `offered - achieved > 5%`",
                    ));
                }
                match inclusive && limit.is_none() {
                    true => Err(always("offered - achieved > 0/s")),
                    false => Ok(Until::Shortfall(Bound { limit, inclusive })),
                }
            }
            // Whole numbers: `>= 1` is `> 0`.
            "socket_errors" => match (limit.parse::<u64>().map_err(|_| wrong())?, inclusive) {
                (n, false) => Ok(Until::SocketErrors(n)),
                (0, true) => Err(always("socket_errors > 0")),
                (n, true) => Ok(Until::SocketErrors(n - 1)),
            },
            _ => Err(wrong()),
        }
    }
}

/// Shows a stop condition in the form that [`Until::parse`] accepts.
impl Display for Until {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Until::Missed => f.write_str("missed"),
            Until::SocketErrors(most) => write!(f, "socket_errors > {most}"),
            Until::Shortfall(Bound { limit, inclusive }) => {
                let sign = if *inclusive { ">=" } else { ">" };
                match limit {
                    // 100 x 0.07 is slightly more than 7 in binary.
                    Limit::Ratio(ratio) => {
                        write!(f, "offered - achieved {sign} {}%", (ratio * 1e11).round() / 1e9)
                    }
                    Limit::PerSecond(rate) => write!(f, "offered - achieved {sign} {rate}/s"),
                }
            }
        }
    }
}

fn read(text: &str) -> Option<Limit> {
    let number = |digits: &str| digits.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|n| Limit::Ratio(n / 100.0)),
        None => number(text.strip_suffix("/s")?).map(Limit::PerSecond),
    }
}
