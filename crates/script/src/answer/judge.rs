//! The judge of one request's answers: its expected statuses, checks and extractions, compiled once and asked of every
//! answer. Nothing is allocated for an answer that is as expected, once the buffers have grown.

use super::coding::{Decoder, Unreadable};
use super::digest::Expected;
use super::json::{self, NotJson, Path, Shaper, Tree};
use super::rule::CompiledRule;
use super::sentence::{Redactor, is_secret};
use super::take::Take;
use crate::value::{Scope, Unfilled, fill};
use plimsoll_plan::answer::{Check, Statuses, Subject};
use plimsoll_plan::head::Head;
use plimsoll_plan::program::BodyUse;
use plimsoll_plan::script::{Ask, Slot};
use plimsoll_plan::value::FeederId;
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of a decoded body, unless the scratch is told otherwise: the default of the limit `kept_body_bytes`.
const DECODED_BYTES: usize = 16 << 20;
/// In place of a check's number in [`Findings::failures`]: the status itself.
pub const STATUS: usize = usize::MAX;

/// One finished answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: u16,
    /// From the status line to the empty line; may be empty when [`Judge::body_use`] asks for none.
    pub head: Head<'a>,
    /// As it came, content codings not undone.
    pub body: &'a [u8],
    /// Of the whole body; more than `body` holds when it was cut.
    pub body_bytes: u64,
    /// From the send to the last byte.
    pub service_ns: u64,
}

/// What was found out about an answer; reused, cleared by each [`Judge::run`].
#[derive(Debug)]
pub struct Findings {
    /// One per check in their order, then one per extraction; true: it held.
    pub verdicts: Vec<bool>,
    pub status_ok: bool,
    /// A check or an extraction needed the body, and its content coding could not be undone.
    pub undecodable: bool,
    /// Checks and extractions that could not see the body, because a limit of ours has cut it: nothing is known of
    /// them, and they have not failed.
    pub unseen: Vec<usize>,
    /// Where each extracted value goes and where in [`Findings::bytes`] it is. What was not found is not here.
    pub extracted: Vec<(Slot, Range<usize>)>,
    pub bytes: Vec<u8>,
    /// Index into the verdicts, or [`STATUS`], and what was expected and found; only while `wants_sentences`.
    pub failures: Vec<(usize, String)>,
    /// The shape of a body that is JSON and was needed anyway; only while `wants_shape`.
    pub shape: Option<u64>,
    /// A check's text needed a row of a feeder that has none left: the user is at its end.
    pub exhausted: Option<FeederId>,
    /// Set by the caller: sentences cost allocations, so ask only while samples are still wanted.
    pub wants_sentences: bool,
    /// Set by the caller; a shape costs about as much as a JSONPath.
    pub wants_shape: bool,
    /// Set by the caller: texts that are cut out of values before sentences shorten them.
    pub forms: Arc<[String]>,
}

impl Default for Findings {
    fn default() -> Findings {
        Findings {
            verdicts: Vec::new(),
            status_ok: false,
            undecodable: false,
            unseen: Vec::new(),
            extracted: Vec::new(),
            bytes: Vec::new(),
            failures: Vec::new(),
            shape: None,
            exhausted: None,
            wants_sentences: false,
            wants_shape: true,
            forms: Arc::from([]),
        }
    }
}

impl Findings {
    /// Nothing failed: neither the status nor a check nor an extraction.
    pub fn all_held(&self) -> bool {
        self.status_ok && self.verdicts.iter().all(|held| *held)
    }

    fn clear(&mut self) {
        self.verdicts.clear();
        self.unseen.clear();
        self.extracted.clear();
        self.bytes.clear();
        self.failures.clear();
        (self.status_ok, self.undecodable, self.shape, self.exhausted) = (false, false, None, None);
    }
}

/// Buffers and decoders, made at their first use. One serves many users, one after the other.
pub struct Scratch {
    decoder: Decoder,
    pub(super) desk: ResponseParts,
    shaper: Shaper,
    decoded_bytes_max: usize,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new(DECODED_BYTES)
    }
}

impl Scratch {
    /// A body that is longer than this once decoded is undecodable.
    pub fn new(decoded_bytes_max: usize) -> Scratch {
        let (decoder, desk, shaper) = Default::default();
        Scratch { decoder, desk, shaper, decoded_bytes_max }
    }

    /// What the last run read of the body, for an excerpt that a person can read: decoded if it was coded, the body of
    /// `answer` otherwise. `answer` is the one of that run.
    pub fn readable<'a>(&'a self, answer: &Answer<'a>) -> &'a [u8] {
        if self.desk.decoded { self.decoder.last() } else { answer.body }
    }
}

/// What the parts of one run write on.
#[derive(Debug, Default)]
pub(super) struct ResponseParts {
    /// The value that is looked at, when it is not a piece of the answer.
    pub left: Vec<u8>,
    /// What it is compared with.
    pub right: Vec<u8>,
    pub tree: Tree,
    decoded: bool,
}

/// The compiled expectations of one [`Ask`].
#[derive(Debug)]
pub struct Judge {
    expect: Option<Statuses>,
    checks: Vec<Compiled>,
    takes: Vec<Take>,
    reads_body: bool,
    reads_head: bool,
}

#[derive(Debug)]
struct Compiled {
    on: On,
    /// The name of the value says that it is a secret.
    secret: bool,
}

#[derive(Debug)]
enum On {
    Status(Statuses),
    Header { name: String, rule: CompiledRule },
    Body(CompiledRule),
    Json { path: Path, rule: CompiledRule },
    Length { least_bytes: u64, most_bytes: u64 },
    Hash(Expected),
    Duration { below_ns: u64 },
}

/// Why there is no body to look at.
#[derive(Debug, Clone, Copy)]
enum NoBody {
    Cut { kept_bytes: usize },
    Undecodable(Unreadable),
}

/// Why a check did not hold.
enum Failure {
    Unfilled(Unfilled),
    /// Empty when nobody reads it.
    Sentence(String),
}

impl Judge {
    /// # Errors
    /// A sentence naming the check or extraction, and what is wrong with its path, expression or hash.
    pub fn compile(ask: &Ask) -> Result<Judge, String> {
        let named = |name: &str, error: String| format!("`{}`, `{name}`: {error}", ask.name);
        let checks =
            ask.checks.iter().map(|check| Compiled::compile(check).map_err(|e| named(&check.name, e)));
        let takes = ask.extracts.iter().map(|take| Take::compile(take).map_err(|e| named(&take.name, e)));
        let checks = checks.collect::<Result<Vec<_>, _>>()?;
        let takes = takes.collect::<Result<Vec<_>, _>>()?;
        let reads_body =
            checks.iter().any(|check| check.on.reads_body()) || takes.iter().any(Take::reads_body);
        let reads_head =
            checks.iter().any(|c| matches!(c.on, On::Header { .. })) || takes.iter().any(Take::reads_head);
        Ok(Judge { expect: ask.expect.clone(), checks, takes, reads_body, reads_head })
    }

    /// What must be kept of an answer for [`Judge::run`].
    pub fn body_use(&self) -> BodyUse {
        match (self.reads_body, self.reads_head) {
            (true, _) => BodyUse::Keep,
            (false, true) => BodyUse::HeadOnly,
            (false, false) => BodyUse::Discard,
        }
    }

    /// Checks an answer and takes values out of it. Checks see the variables as they were before the answer.
    pub fn run(
        &self,
        answer: &Answer<'_>,
        scope: &mut Scope<'_>,
        scratch: &mut Scratch,
        findings: &mut Findings,
    ) {
        findings.clear();
        findings.status_ok = match &self.expect {
            Some(statuses) => statuses.holds(answer.status),
            None => Statuses::usual(answer.status),
        };
        if !findings.status_ok && findings.wants_sentences {
            let expected = self.expect.as_ref().map_or("200-399".to_owned(), listed);
            findings.failures.push((STATUS, format!("expected `{expected}`, found `{}`", answer.status)));
        }
        let Scratch { decoder, desk, shaper, decoded_bytes_max } = scratch;
        desk.tree = Tree::Unread;
        desk.decoded = false;
        let body = match self.reads_body {
            false => Ok(&answer.body[..0]),
            true if (answer.body.len() as u64) < answer.body_bytes => {
                Err(NoBody::Cut { kept_bytes: answer.body.len() })
            }
            true => decoder.decode(answer.head, answer.body, *decoded_bytes_max).map_err(NoBody::Undecodable),
        };
        let cut = match body {
            Err(NoBody::Cut { .. } | NoBody::Undecodable(Unreadable::TooLong { .. })) => true,
            Err(NoBody::Undecodable(_)) | Ok(_) => false,
        };
        findings.undecodable = body.is_err() && !cut;
        for check in &self.checks {
            let held = check.ask(answer, body, scope, desk, findings);
            findings.note(held, cut && check.on.reads_body());
        }
        for take in &self.takes {
            let held = take_one(take, answer, body, scope, desk, findings);
            findings.note(held, cut && take.reads_body());
        }
        if let (Ok(text), true, true) = (body, self.reads_body, findings.wants_shape) {
            findings.shape = shaper.shape(text);
        }
        desk.decoded = body.is_ok_and(|text| !text.is_empty() && text.as_ptr() != answer.body.as_ptr());
        // The tree of a large answer is not kept until the next one.
        desk.tree = Tree::Unread;
    }
}

impl Findings {
    /// Notes a verdict; `unseen`: of what could not be seen.
    fn note(&mut self, held: Result<(), Failure>, unseen: bool) {
        let number = self.verdicts.len();
        self.verdicts.push(held.is_ok());
        if unseen {
            self.unseen.push(number);
        }
        let sentence = match held {
            Ok(()) => return,
            Err(Failure::Sentence(sentence)) => sentence,
            Err(Failure::Unfilled(Unfilled::Exhausted(feeder))) => {
                self.exhausted = Some(feeder);
                "a text of it needs a row of a feeder that has none left".into()
            }
            Err(Failure::Unfilled(_)) => "a variable in a text of it has no value".into(),
        };
        if self.wants_sentences {
            self.failures.push((number, sentence));
        }
    }
}

fn take_one(
    take: &Take,
    answer: &Answer<'_>,
    body: Result<&[u8], NoBody>,
    scope: &mut Scope<'_>,
    desk: &mut ResponseParts,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let begin = findings.bytes.len();
    let body = if take.reads_body() { body } else { Ok(&answer.body[..0]) };
    let taken = match body {
        Ok(body) => take.take(answer, body, scope.random, desk, &mut findings.bytes).map_err(str::to_owned),
        // Not even a default: the value may well be there, we only cannot read it.
        Err(why) => return Err(Failure::Sentence(why.sentence(answer))),
    };
    if let Err(why) = taken {
        let Some(default) = &take.default else { return Err(Failure::Sentence(why)) };
        fill(default, scope, &mut findings.bytes).map_err(Failure::Unfilled)?;
    }
    findings.extracted.push((take.into, begin..findings.bytes.len()));
    Ok(())
}

impl NoBody {
    fn sentence(self, answer: &Answer<'_>) -> String {
        match self {
            NoBody::Cut { kept_bytes } => format!(
                "the body has `{}` bytes, of which the limits `kept_body_bytes` (of one) and `kept_total_bytes` \
                 (of all together) let `{kept_bytes}` be kept",
                answer.body_bytes
            ),
            NoBody::Undecodable(why) => format!("the body cannot be decoded: {why}"),
        }
    }
}

impl On {
    fn reads_body(&self) -> bool {
        matches!(self, On::Body(_) | On::Json { .. } | On::Hash(_))
    }
}

impl Compiled {
    fn compile(check: &Check) -> Result<Compiled, String> {
        let mut secret = false;
        let on = match &check.on {
            Subject::Status(statuses) => On::Status(statuses.clone()),
            Subject::Header { name, rule } => {
                secret = is_secret(name);
                On::Header { name: name.clone(), rule: CompiledRule::compile(rule)? }
            }
            Subject::Body(rule) => On::Body(CompiledRule::compile(rule)?),
            Subject::Json { path, rule } => {
                // The whole path: what lies inside a member called `session` is as secret as the member.
                secret = is_secret(path);
                On::Json { path: Path::compile(path)?, rule: CompiledRule::compile(rule)? }
            }
            Subject::Length { least_bytes, most_bytes } => {
                On::Length { least_bytes: *least_bytes, most_bytes: *most_bytes }
            }
            Subject::Hash { algorithm, hex } => On::Hash(Expected::compile(*algorithm, hex)?),
            Subject::Duration { below_ns } => On::Duration { below_ns: *below_ns },
        };
        Ok(Compiled { on, secret })
    }

    fn ask(
        &self,
        answer: &Answer<'_>,
        body: Result<&[u8], NoBody>,
        scope: &mut Scope<'_>,
        desk: &mut ResponseParts,
        findings: &Findings,
    ) -> Result<(), Failure> {
        let wants = findings.wants_sentences;
        let failed = |sentence: &dyn Fn() -> String| {
            Err(Failure::Sentence(if wants { sentence() } else { String::new() }))
        };
        let body = match body {
            Err(why) if self.on.reads_body() => return failed(&|| why.sentence(answer)),
            other => other.unwrap_or_default(),
        };
        let ResponseParts { left, right, tree, .. } = desk;
        let (rule, found) = match &self.on {
            On::Status(statuses) if statuses.holds(answer.status) => return Ok(()),
            On::Status(statuses) => {
                return failed(&|| format!("expected `{}`, found `{}`", listed(statuses), answer.status));
            }
            On::Length { least_bytes, most_bytes } => {
                return match answer.body_bytes {
                    found if (*least_bytes..=*most_bytes).contains(&found) => Ok(()),
                    found => failed(&|| match *most_bytes {
                        u64::MAX => format!("expected at least `{least_bytes}` bytes, found `{found}`"),
                        _ => format!("expected `{least_bytes}` to `{most_bytes}` bytes, found `{found}`"),
                    }),
                };
            }
            On::Duration { below_ns } if answer.service_ns < *below_ns => return Ok(()),
            On::Duration { below_ns } => {
                let ms = |ns: u64| ns as f64 / 1e6;
                return failed(&|| {
                    format!("expected less than `{} ms`, found `{} ms`", ms(*below_ns), ms(answer.service_ns))
                });
            }
            On::Hash(expected) => {
                return match expected.holds(body) {
                    Ok(()) => Ok(()),
                    Err(found) => {
                        failed(&|| format!("expected `{}`, found `{}`", expected.hex(), found.hex()))
                    }
                };
            }
            On::Header { name, rule } => (rule, answer.head.field(name)),
            // A body is always there; whether it exists asks whether it holds anything.
            On::Body(rule @ (CompiledRule::Exists | CompiledRule::Absent)) => {
                (rule, Some(body).filter(|body| !body.is_empty()))
            }
            On::Body(rule) => (rule, Some(body)),
            On::Json { path, rule } => match path.select(body, tree, |_| 0) {
                Ok(selected) => (rule, selected.span.map(|span| json::excerpt(body, span, left))),
                // No body at all lacks every member; an error page must not pass for an answer that lacks one.
                Err(NotJson) if body.is_empty() => (rule, None),
                Err(NotJson) => return failed(&|| "the body is no JSON".into()),
            },
        };
        if rule.holds(found, scope, right).map_err(Failure::Unfilled)? {
            return Ok(());
        }
        failed(&|| rule.sentence(found, right, Redactor { forms: &findings.forms, secret: self.secret }))
    }
}

fn listed(statuses: &Statuses) -> String {
    let one = |(low, high): &(u16, u16)| if low == high { low.to_string() } else { format!("{low}-{high}") };
    statuses.0.iter().map(one).collect::<Vec<_>>().join(", ")
}
