//! Compiled rules for a value of a response or a variable, which may be missing.
//!
//! Two texts are compared as numbers if both are JSON numbers (`1` equals `1.0`), and otherwise as bytes (`007` does
//! not equal `7`). A missing value meets only [`Rule::Absent`].

use super::sentence::{Redactor, quoted};
use super::{Scratch, judge::ResponseParts};
use crate::value::{Scope, Unfilled, fill};
use memchr::memmem::Finder;
use plimsoll_body::number::Number;
use plimsoll_plan::answer::Rule;
use plimsoll_plan::script::Condition;
use plimsoll_plan::value::Text;
use regex::bytes::Regex;

/// A compiled [`Rule`].
#[derive(Debug)]
pub(super) enum CompiledRule {
    Exists,
    Absent,
    Equals(Needle),
    Differs(Needle),
    Contains(Needle),
    Lacks(Needle),
    Matches(Regex),
    Compare(Compare, f64),
    OneOf(Vec<Needle>),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Compare {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// The right side of a rule.
#[derive(Debug)]
pub(super) enum Needle {
    /// `shown`: with `***` for secrets.
    Fixed {
        finder: Box<Finder<'static>>,
        shown: String,
    },
    Filled(Text),
}

impl Needle {
    fn compile(text: &Text) -> Needle {
        match text.fixed() {
            Some(bytes) => {
                Needle::Fixed { finder: Box::new(Finder::new(&bytes).into_owned()), shown: text.describe() }
            }
            None => Needle::Filled(text.clone()),
        }
    }

    /// Returns the current text; `room` contains it if it had to be filled in.
    fn bytes<'n>(&'n self, scope: &mut Scope<'_>, room: &'n mut Vec<u8>) -> Result<&'n [u8], Unfilled> {
        match self {
            Needle::Fixed { finder, .. } => Ok(finder.needle()),
            Needle::Filled(text) => {
                room.clear();
                fill(text, scope, room)?;
                Ok(room)
            }
        }
    }

    fn is_in(&self, found: &[u8], scope: &mut Scope<'_>, room: &mut Vec<u8>) -> Result<bool, Unfilled> {
        match self {
            Needle::Fixed { finder, .. } => Ok(finder.find(found).is_some()),
            Needle::Filled(_) => Ok(memchr::memmem::find(found, self.bytes(scope, room)?).is_some()),
        }
    }

    /// Describes the text for a message after an evaluation. It does not fill in the text again, which would increment
    /// counters.
    fn describe(&self, room: &[u8], redactor: Redactor<'_>) -> String {
        match self {
            Needle::Fixed { shown, .. } => quoted(shown.as_bytes(), redactor),
            Needle::Filled(_) => quoted(room, redactor),
        }
    }
}

impl CompiledRule {
    /// # Errors
    /// Returns an error for an invalid regular expression.
    pub fn compile(rule: &Rule) -> Result<CompiledRule, String> {
        Ok(match rule {
            Rule::Exists => CompiledRule::Exists,
            Rule::Absent => CompiledRule::Absent,
            Rule::Equals(text) => CompiledRule::Equals(Needle::compile(text)),
            Rule::Differs(text) => CompiledRule::Differs(Needle::compile(text)),
            Rule::Contains(text) => CompiledRule::Contains(Needle::compile(text)),
            Rule::Lacks(text) => CompiledRule::Lacks(Needle::compile(text)),
            Rule::Matches(pattern) => CompiledRule::Matches(regex(pattern)?),
            Rule::Below(limit) => CompiledRule::Compare(Compare::Below, *limit),
            Rule::AtMost(limit) => CompiledRule::Compare(Compare::AtMost, *limit),
            Rule::Above(limit) => CompiledRule::Compare(Compare::Above, *limit),
            Rule::AtLeast(limit) => CompiledRule::Compare(Compare::AtLeast, *limit),
            Rule::OneOf(texts) => CompiledRule::OneOf(texts.iter().map(Needle::compile).collect()),
        })
    }

    /// Evaluates the rule. `room` keeps the filled-in text for [`CompiledRule::sentence`].
    pub fn holds(
        &self,
        found: Option<&[u8]>,
        scope: &mut Scope<'_>,
        room: &mut Vec<u8>,
    ) -> Result<bool, Unfilled> {
        let Some(found) = found else { return Ok(matches!(self, CompiledRule::Absent)) };
        Ok(match self {
            CompiledRule::Exists => true,
            CompiledRule::Absent => false,
            CompiledRule::Equals(needle) => same(found, needle.bytes(scope, room)?),
            CompiledRule::Differs(needle) => !same(found, needle.bytes(scope, room)?),
            CompiledRule::Contains(needle) => needle.is_in(found, scope, room)?,
            CompiledRule::Lacks(needle) => !needle.is_in(found, scope, room)?,
            CompiledRule::Matches(regex) => regex.is_match(found),
            CompiledRule::Compare(compare, limit) => {
                Number::parse(found).is_some_and(|number| compare.holds(number.value(), *limit))
            }
            CompiledRule::OneOf(needles) => {
                for needle in needles {
                    if same(found, needle.bytes(scope, room)?) {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    /// Describes what was expected and what was found, after [`CompiledRule::holds`] returned false.
    pub fn sentence(&self, found: Option<&[u8]>, room: &[u8], redactor: Redactor<'_>) -> String {
        let expected = match self {
            CompiledRule::Exists => "a value".to_owned(),
            CompiledRule::Absent => "no value".to_owned(),
            CompiledRule::Equals(needle) => needle.describe(room, redactor),
            CompiledRule::Differs(needle) => format!("anything but {}", needle.describe(room, redactor)),
            CompiledRule::Contains(needle) => format!("text with {}", needle.describe(room, redactor)),
            CompiledRule::Lacks(needle) => format!("text without {}", needle.describe(room, redactor)),
            CompiledRule::Matches(regex) => {
                let open = Redactor { secret: false, ..redactor };
                format!("a match of {}", quoted(regex.as_str().as_bytes(), open))
            }
            CompiledRule::Compare(compare, limit) => format!("a number {} `{limit}`", compare.words()),
            CompiledRule::OneOf(needles) => {
                let shown = needles.iter().map(|needle| match needle {
                    Needle::Fixed { shown, .. } => quoted(shown.as_bytes(), redactor),
                    // `room` has only the last one.
                    Needle::Filled(text) => quoted(text.describe().as_bytes(), redactor),
                });
                format!("one of {}", shown.collect::<Vec<_>>().join(", "))
            }
        };
        match found {
            Some(found) => format!("expected {expected}, found {}", quoted(found, redactor)),
            None => format!("expected {expected}, found no value"),
        }
    }
}

impl Compare {
    fn holds(self, found: f64, limit: f64) -> bool {
        match self {
            Compare::Below => found < limit,
            Compare::AtMost => found <= limit,
            Compare::Above => found > limit,
            Compare::AtLeast => found >= limit,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Compare::Below => "below",
            Compare::AtMost => "of at most",
            Compare::Above => "above",
            Compare::AtLeast => "of at least",
        }
    }
}

fn same(left: &[u8], right: &[u8]) -> bool {
    left == right
        || match (Number::parse(left), Number::parse(right)) {
            (Some(left), Some(right)) => left.same(&right),
            _ => false,
        }
}

/// Compiles a regular expression for bytes, because a body may not be UTF-8.
pub(super) fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("invalid regular expression `{pattern}`: {error}"))
}

/// A compiled [`Condition`] of `if` and `while`.
#[derive(Debug)]
pub struct CompiledCondition {
    left: Text,
    rule: CompiledRule,
}

impl CompiledCondition {
    /// # Errors
    /// Returns an error for an invalid regular expression.
    pub fn compile(condition: &Condition) -> Result<CompiledCondition, String> {
        Ok(CompiledCondition { left: condition.left.clone(), rule: CompiledRule::compile(&condition.rule)? })
    }

    /// Evaluates the condition. An unset variable is a missing value on the left, and makes any rule false on the
    /// right.
    ///
    /// # Errors
    /// Returns [`Unfilled::Exhausted`] if a data file has no rows left.
    pub fn holds(&self, scope: &mut Scope<'_>, scratch: &mut Scratch) -> Result<bool, Unfilled> {
        let ResponseParts { left, right, .. } = &mut scratch.desk;
        left.clear();
        let found = match fill(&self.left, scope, left) {
            Ok(()) => Some(&left[..]),
            Err(Unfilled::Missing(_)) => None,
            Err(other) => return Err(other),
        };
        match self.rule.holds(found, scope, right) {
            Err(Unfilled::Missing(_)) => Ok(false),
            other => other,
        }
    }
}
