//! The judge of the responses to one request: its expected status codes, checks, and extractions, compiled once and
//! applied to every response. An expected response causes no allocation once the buffers have grown.

use super::check::{Compiled, listed};
use super::take::Take;
use crate::call::End;
use crate::value::{Scope, Unfilled, fill};
use plimsoll_body::coding::{Decoder, Unreadable};
use plimsoll_body::jmes::Variables;
use plimsoll_body::json::{Shaper, Tree};
use plimsoll_body::markup::Markup;
use plimsoll_plan::answer::Statuses;
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
    /// The end of a gRPC call; its message is the body, as JSON.
    pub call: Option<End<'a>>,
}

impl<'a> Answer<'a> {
    /// Returns the first field of a name: of the head, or of the trailers of a call.
    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.head.field(name).or_else(|| self.call?.trailers.field(name))
    }
}

/// The findings about a response; reused, and cleared by each [`Judge::run`].
#[derive(Debug)]
pub struct Findings {
    /// One result per check in their order, then one per extraction; true if it passed.
    pub verdicts: Vec<bool>,
    pub status_ok: bool,
    /// Whether a check or an extraction needed the body, but it could not be decoded.
    pub undecodable: bool,
    /// Whether a GraphQL response has errors, which is a failure with its own name.
    pub has_graphql_errors: bool,
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
            has_graphql_errors: false,
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
        self.has_graphql_errors = false;
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
    pub markup: Markup,
    pub variables: Variables,
    decoded: bool,
}

impl ResponseParts {
    /// Forgets the trees: those of a large response are not kept.
    fn forget(&mut self) {
        (self.tree, self.markup, self.variables) = Default::default();
    }
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

/// Why the body is not available.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoBody {
    Cut { kept_bytes: usize },
    Undecodable(Unreadable),
}

/// Why a check failed.
pub(super) enum Failure {
    Unfilled(Unfilled),
    /// Empty if it is not needed.
    Sentence(String),
    /// The errors of a GraphQL response; empty if they are not needed.
    GraphqlErrors(String),
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
            checks.iter().any(|check| check.on.reads_head()) || takes.iter().any(Take::reads_head);
        Ok(Judge { expect: ask.expect.clone(), checks, takes, reads_body, reads_head })
    }

    /// Replaces the expected status codes.
    pub fn set_expected(&mut self, statuses: Statuses) {
        self.expect = Some(statuses);
    }

    /// Returns whether a status is one of those expected.
    pub fn expects(&self, status: u16) -> bool {
        self.expect.as_ref().map_or_else(|| Statuses::usual(status), |statuses| statuses.holds(status))
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
        findings.status_ok = self.expects(answer.status);
        if !findings.status_ok && findings.wants_sentences {
            let expected = self.expect.as_ref().map_or("200-399".to_owned(), listed);
            findings.failures.push((STATUS, format!("expected `{expected}`, found `{}`", answer.status)));
        }
        let Scratch { decoder, desk, shaper, decoded_bytes_max } = scratch;
        desk.forget();
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
        desk.forget();
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
            Err(Failure::GraphqlErrors(sentence)) => {
                self.has_graphql_errors = true;
                sentence
            }
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
    pub fn sentence(self, answer: &Answer<'_>) -> String {
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
