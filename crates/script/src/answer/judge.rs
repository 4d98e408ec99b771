//! The judge of the responses to one request: its expected status codes, checks, and extractions, compiled once and
//! applied to every response. An expected response causes no allocation once the buffers have grown.

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

/// Default maximum size of a decoded body, which is the default of the limit `kept_body_bytes`.
const DECODED_BYTES: usize = 16 << 20;
/// The status code, in place of the index of a check in [`Findings::failures`].
pub const STATUS: usize = usize::MAX;

/// One complete response.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: u16,
    /// From the status line to the empty line; may be empty if [`Judge::body_use`] requests none.
    pub head: Head<'a>,
    /// As received, not decoded.
    pub body: &'a [u8],
    /// Size of the whole body; larger than `body` if that was cut.
    pub body_bytes: u64,
    /// From the send to the last byte.
    pub service_ns: u64,
}

/// The findings about a response; reused, and cleared by each [`Judge::run`].
#[derive(Debug)]
pub struct Findings {
    /// One result per check in their order, then one per extraction; true if it passed.
    pub verdicts: Vec<bool>,
    pub status_ok: bool,
    /// Whether a check or an extraction needed the body, but it could not be decoded.
    pub undecodable: bool,
    /// Checks and extractions without a result, because a limit of the load generator has cut the body. They have not
    /// failed.
    pub unseen: Vec<usize>,
    /// The slots of extracted values, and their places in [`Findings::bytes`].
    pub extracted: Vec<(Slot, Range<usize>)>,
    pub bytes: Vec<u8>,
    /// Index into the verdicts, or [`STATUS`], with what was expected and found; only if `wants_sentences` is set.
    pub failures: Vec<(usize, String)>,
    /// The shape of a JSON body that a check or an extraction needed; only if `wants_shape` is set.
    pub shape: Option<u64>,
    /// The data file that had no rows left for a check, so that the user ends.
    pub exhausted: Option<FeederId>,
    /// Set by the caller while failure examples are needed, because messages allocate.
    pub wants_sentences: bool,
    /// Set by the caller. A shape costs about as much as a JSONPath.
    pub wants_shape: bool,
    /// Set by the caller: secrets to remove from values before messages shorten them.
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
    /// Returns whether the status code, all checks, and all extractions passed.
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

/// Buffers and decoders, created at their first use. Many users share one, in sequence.
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
    /// Returns buffers with a maximum size of decoded bodies.
    pub fn new(decoded_bytes_max: usize) -> Scratch {
        let (decoder, desk, shaper) = Default::default();
        Scratch { decoder, desk, shaper, decoded_bytes_max }
    }

    /// Returns the body of the last run for an excerpt, decoded if necessary. `answer` must be that of the last run.
    pub fn readable<'a>(&'a self, answer: &Answer<'a>) -> &'a [u8] {
        if self.desk.decoded { self.decoder.last() } else { answer.body }
    }
}

/// Buffers that the parts of one run share.
#[derive(Debug, Default)]
pub(super) struct ResponseParts {
    /// The value to check, if it is not part of the response.
    pub left: Vec<u8>,
    /// The value to compare with.
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
    /// Whether the name of the value marks it as a secret.
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

/// Why the body is not available.
#[derive(Debug, Clone, Copy)]
enum NoBody {
    Cut { kept_bytes: usize },
    Undecodable(Unreadable),
}

/// Why a check failed.
enum Failure {
    Unfilled(Unfilled),
    /// Empty if it is not needed.
    Sentence(String),
}

impl Judge {
    /// Compiles the expectations of a request.
    ///
    /// # Errors
    /// Returns an error that names the check or extraction with an invalid path, expression, or hash.
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

    /// Replaces the expected status codes.
    pub fn set_expected(&mut self, statuses: Statuses) {
        self.expect = Some(statuses);
    }

    /// Returns how much of a response [`Judge::run`] needs.
    pub fn body_use(&self) -> BodyUse {
        match (self.reads_body, self.reads_head) {
            (true, _) => BodyUse::Keep,
            (false, true) => BodyUse::HeadOnly,
            (false, false) => BodyUse::Discard,
        }
    }

    /// Checks a response and extracts values. Checks see the variables as they were before the response.
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
        // The tree of a large response is not kept.
        desk.tree = Tree::Unread;
    }
}

impl Findings {
    /// Records a result. `unseen` means that a limit cut the body.
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
                "it uses a data file that has no rows left".into()
            }
            Err(Failure::Unfilled(_)) => "it uses a variable that has no value".into(),
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
        // No default either: the body may contain the value.
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
                "the body has `{}` bytes, but the limits `kept_body_bytes` (per body) and `kept_total_bytes` \
                 (all bodies) kept only `{kept_bytes}`",
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
                // The whole path counts: a value inside a member `session` is as secret as the member.
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
            // A response always has a body, so `exists` asks whether it is not empty.
            On::Body(rule @ (CompiledRule::Exists | CompiledRule::Absent)) => {
                (rule, Some(body).filter(|body| !body.is_empty()))
            }
            On::Body(rule) => (rule, Some(body)),
            On::Json { path, rule } => match path.select(body, tree, |_| 0) {
                Ok(selected) => (rule, selected.span.map(|span| json::excerpt(body, span, left))),
                // An empty body lacks every member. An error page must not pass as a response without the member.
                Err(NotJson) if body.is_empty() => (rule, None),
                Err(NotJson) => return failed(&|| "the body is not JSON".into()),
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
