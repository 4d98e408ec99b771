//! Compiled extractions: the place of a value in a response, and which of several to take.

use super::judge::{Answer, ResponseParts};
use super::{cookies, rule};
use memchr::memmem::Finder;
use plimsoll_body::choose::{NOTHING, choose};
use plimsoll_body::jmes::Jmes;
use plimsoll_body::json::{Path, append};
use plimsoll_body::query::Query;
use plimsoll_plan::answer::{Extract, Pick, Source};
use plimsoll_plan::script::Slot;
use plimsoll_plan::value::Text;
use plimsoll_stats::random::SplitMix64;
use regex::bytes::Regex;
use std::io::Write as _;

#[derive(Debug)]
pub(super) struct Take {
    pub into: Slot,
    from: From,
    pick: Pick,
    pub default: Option<Text>,
}

/// The compiled place of a value.
#[derive(Debug)]
pub(super) enum From {
    Json(Path),
    Regex {
        regex: Regex,
        group: usize,
    },
    Query(Box<Query>),
    Jmes(Box<Jmes>),
    /// The texts on the left and on the right.
    Boundary(Box<[Finder<'static>; 2]>),
    Header(String),
    Cookie(String),
    Status,
    Body,
}

impl Take {
    /// # Errors
    /// Returns an error for an invalid path or expression, or an unknown group.
    pub fn compile(extract: &Extract) -> Result<Take, String> {
        let from = From::compile(&extract.from)?;
        Ok(Take { into: extract.into, from, pick: extract.pick, default: extract.default.clone() })
    }

    pub fn reads_body(&self) -> bool {
        self.from.reads_body()
    }

    pub fn reads_head(&self) -> bool {
        self.from.reads_head()
    }

    /// Appends the value to `out`.
    ///
    /// # Errors
    /// Returns why there is no value.
    pub fn take(
        &self,
        answer: &Answer<'_>,
        body: &[u8],
        random: &mut SplitMix64,
        desk: &mut ResponseParts,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        self.from.put(answer, body, self.pick, random, desk, out)
    }
}

impl From {
    /// # Errors
    /// Returns an error for an invalid path or expression, or an unknown group.
    pub fn compile(source: &Source) -> Result<From, String> {
        Ok(match source {
            Source::Json(path) => From::Json(Path::compile(path)?),
            Source::Regex { pattern, group } => {
                let regex = rule::regex(pattern)?;
                let groups = regex.captures_len() - 1;
                if usize::from(*group) > groups {
                    return Err(format!(
                        "unknown group `{group}`: the last group of `{pattern}` is `{groups}`"
                    ));
                }
                From::Regex { regex, group: usize::from(*group) }
            }
            Source::Header(name) => From::Header(name.clone()),
            Source::Cookie(name) => From::Cookie(name.clone()),
            Source::Status => From::Status,
            Source::Body => From::Body,
            Source::XPath(text) => From::Query(Box::new(Query::xpath(text)?)),
            Source::Css { selector, attribute } => {
                From::Query(Box::new(Query::css(selector, attribute.as_deref())?))
            }
            Source::JmesPath(text) => From::Jmes(Box::new(Jmes::compile(text)?)),
            Source::Boundary { left, right } => {
                From::Boundary(Box::new([Finder::new(left).into_owned(), Finder::new(right).into_owned()]))
            }
        })
    }

    pub fn reads_body(&self) -> bool {
        match self {
            From::Json(_) | From::Regex { .. } | From::Body => true,
            From::Query(_) | From::Jmes(_) | From::Boundary(_) => true,
            From::Header(_) | From::Cookie(_) | From::Status => false,
        }
    }

    /// The head has the type of a body, and its encoding.
    pub fn reads_head(&self) -> bool {
        matches!(self, From::Header(_) | From::Cookie(_))
    }

    /// Appends the picked value to `out`.
    ///
    /// # Errors
    /// Returns why there is no value, which is [`NOTHING`] if the response lacks it.
    pub fn put(
        &self,
        answer: &Answer<'_>,
        body: &[u8],
        pick: Pick,
        random: &mut SplitMix64,
        desk: &mut ResponseParts,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let count = match self {
            From::Json(path) => {
                let selected = path
                    .select(body, &mut desk.tree, |count| choose(pick, count, random).unwrap_or(0))
                    .map_err(|_| "the body is not JSON")?;
                if let (Some(span), true) = (selected.span, pick != Pick::Count) {
                    append(body, span, out);
                    return Ok(());
                }
                selected.count
            }
            From::Regex { regex, group: 0 } => {
                let matches = || regex.find_iter(body).map(|found| found.as_bytes());
                return put(pick, random, matches, out);
            }
            From::Regex { regex, group } => {
                // A match without the group has no value.
                let matches = || regex.captures_iter(body).filter_map(|found| found.get(*group));
                return put(pick, random, || matches().map(|found| found.as_bytes()), out);
            }
            From::Query(query) => {
                return query.put((answer.head, body), pick, random, &mut desk.markup, out);
            }
            From::Jmes(jmes) => return jmes.put(body, pick, random, &mut desk.variables, out),
            From::Boundary(sides) => {
                let [left, right] = &**sides;
                return put(pick, random, || Between { body: Some(body), left, right }, out);
            }
            From::Header(name) => {
                let trailers = answer.call.map(|call| call.trailers).unwrap_or_default();
                return put(pick, random, || answer.head.fields(name).chain(trailers.fields(name)), out);
            }
            From::Cookie(name) => return put(pick, random, || cookies::set_by(answer.head, name), out),
            From::Status => {
                if pick != Pick::Count {
                    match answer.call {
                        Some(call) => out.extend_from_slice(call.status.name().as_bytes()),
                        None => write_number(usize::from(answer.status), out),
                    }
                    return Ok(());
                }
                1
            }
            From::Body => {
                if pick != Pick::Count {
                    out.extend_from_slice(body);
                    return Ok(());
                }
                1
            }
        };
        if pick != Pick::Count {
            return Err(NOTHING);
        }
        write_number(count, out);
        Ok(())
    }
}

/// The texts between two others, from left to right, without overlaps.
struct Between<'b, 'f> {
    /// What is left of the body.
    body: Option<&'b [u8]>,
    left: &'f Finder<'static>,
    right: &'f Finder<'static>,
}

impl<'b> Iterator for Between<'b, '_> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let body = self.body.take()?;
        let begin = self.left.find(body)? + self.left.needle().len();
        let rest = body.get(begin..)?;
        if self.right.needle().is_empty() {
            return Some(rest);
        }
        let end = self.right.find(rest)?;
        // Without a left text, only the beginning of the body counts.
        if !self.left.needle().is_empty() {
            self.body = rest.get(end + self.right.needle().len()..);
        }
        rest.get(..end)
    }
}

/// Picks one of several values that are cheap to iterate again.
fn put<'v, I: Iterator<Item = &'v [u8]>>(
    pick: Pick,
    random: &mut SplitMix64,
    values: impl Fn() -> I,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    let value = match pick {
        Pick::First => values().next(),
        Pick::Last => values().last(),
        Pick::Random => choose(pick, values().count(), random).and_then(|number| values().nth(number)),
        Pick::Count => {
            write_number(values().count(), out);
            return Ok(());
        }
    };
    out.extend_from_slice(value.ok_or(NOTHING)?);
    Ok(())
}

fn write_number(number: usize, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}
