//! What is asked of an answer: checks, which can fail a request, and extractions, which fill variables.

use crate::Problem;
use crate::script::Slot;
use crate::value::Text;
use serde::{Deserialize, Serialize};

/// Statuses that are accepted: ranges, both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statuses(pub Vec<(u16, u16)>);

impl Statuses {
    pub fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|(low, high)| (*low..=*high).contains(&status))
    }

    /// What is accepted when nothing is said: 200 to 399.
    pub fn usual(status: u16) -> bool {
        (200..400).contains(&status)
    }

    /// Reads `201`, `2xx`, `200-299` or several of them with commas between.
    ///
    /// # Errors
    /// A sentence naming the part that is no status.
    pub fn parse(text: &str) -> Result<Statuses, Problem> {
        let one = |text: &str| {
            text.trim().parse::<u16>().ok().filter(|n| (100..=999).contains(n)).ok_or_else(|| {
                Problem::new(
                    format!("`{}` is no status", text.trim()),
                    "expected `201`, `2xx`, `200-299` or several of them",
                )
            })
        };
        let mut all = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            let class =
                part.strip_suffix("xx").or(part.strip_suffix("XX")).and_then(|c| c.parse::<u16>().ok());
            all.push(match (class, part.split_once('-')) {
                (Some(class @ 1..=9), _) => (class * 100, class * 100 + 99),
                (_, Some((low, high))) => (one(low)?, one(high)?),
                _ => (one(part)?, one(part)?),
            });
        }
        if let Some((low, high)) = all.iter().find(|(low, high)| low > high) {
            return Err(Problem::plain(format!("`{low}-{high}` runs backwards")));
        }
        Ok(Statuses(all))
    }
}

/// A condition on the answer. When it does not hold the request has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What it is called in reports; unique among the checks of a request.
    pub name: String,
    pub on: Subject,
}

/// What a check looks at. The status belongs to [`crate::script::Ask::expect`] and, by name, here.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    Status(Statuses),
    /// The first header of this name.
    Header {
        name: String,
        rule: Rule,
    },
    /// The body as text, decoded.
    Body(Rule),
    /// The first node that a JSONPath (RFC 9535) selects: text without its quotes, anything else as JSON.
    Json {
        path: String,
        rule: Rule,
    },
    /// Bytes of the body as it came, before any content coding is undone; both ends included.
    Length {
        least_bytes: u64,
        most_bytes: u64,
    },
    /// Of the decoded body, lower-case hexadecimal.
    Hash {
        algorithm: Hash,
        hex: String,
    },
    /// From the send to the last byte.
    Duration {
        below_ns: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    Md5,
    Sha1,
    Sha256,
}

/// A condition on a text that may be missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    Exists,
    Absent,
    /// As numbers when both are numbers.
    Equals(Text),
    Differs(Text),
    Contains(Text),
    Lacks(Text),
    /// A regular expression, found anywhere.
    Matches(String),
    /// A number below (or at, or above) another.
    Below(f64),
    AtMost(f64),
    Above(f64),
    AtLeast(f64),
    OneOf(Vec<Text>),
}

/// A value taken from an answer. When it is not there the request has failed, unless there is a default.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract {
    pub into: Slot,
    /// The variable's name, which is also the name of the check "there was something to extract".
    pub name: String,
    pub from: Source,
    pub pick: Pick,
    pub default: Option<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// JSONPath (RFC 9535).
    Json(String),
    /// The given group of the first match; 0 is the whole match.
    Regex {
        pattern: String,
        group: u16,
    },
    Header(String),
    /// The value that this answer sets.
    Cookie(String),
    Status,
    /// The whole body as text, decoded.
    Body,
}

/// Which of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    #[default]
    First,
    Last,
    Random,
    /// How many there are.
    Count,
}
