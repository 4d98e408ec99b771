//! Requests that need other exchanges: a challenge before a request with digest authentication, a token before one with
//! OAuth 2, and the same request once more if the server asks for it.

use super::code::{Op, Pc, StrandId};
use super::reply::answer_of;
use super::user::{Exchange, IterationState, Turn, Wait};
use crate::ask::set_header;
use crate::auth::digest::{Challenge, request_line};
use crate::auth::sigv4::{self, Credentials};
use crate::value::{Unfilled, fill};
use plimsoll_plan::Fault;
use plimsoll_plan::auth::{Auth, DigestLogin, SigV4};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{BodyUse, Reply};
use plimsoll_plan::value::{GlobalId, Text};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often a user without a valid token looks for the one that another user requests, ns.
const LOOK_NS: u64 = 5_000_000;
/// Pause after a failed request for a token, ns.
const RETRY_NS: u64 = 1_000_000_000;

/// The state of a source of tokens. Users only read it, except for the one that requests the next token.
#[derive(Debug, Default)]
pub(super) struct TokenState {
    /// End of the newest token, ns since 1970; 0 if it has none.
    end_unix_ns: AtomicU64,
    /// Time from which the next token may be requested.
    due_unix_ns: AtomicU64,
    /// A user is requesting one.
    busy: AtomicBool,
}

/// Requests without credentials, or with an old challenge, are answered with this status.
const UNAUTHORIZED: u16 = 401;

impl Turn<'_> {
    /// Returns whether the strand waits for a token instead of sending its request.
    pub fn waits_for_token(&mut self, strand: StrandId, pc: Pc, ask: u32) -> Result<bool, Unfilled> {
        let Some(Auth::Token(number)) = self.stage.asks[ask as usize].auth else { return Ok(false) };
        let state = &self.stage.tokens[usize::from(number)];
        let now = self.at.unix_ns;
        if state.end_unix_ns.load(Ordering::Relaxed) == 0 || now < state.due_unix_ns.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if state.busy.swap(true, Ordering::Acquire) {
            // Another user requests the next token. The old one is good until it ends.
            if now < state.end_unix_ns.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.sleep(strand, pc.wrapping_sub(1), LOOK_NS);
            return Ok(true);
        }
        let source = &self.stage.script.tokens[usize::from(number)];
        let has_refresh = self.stage.globals.get(source.refresh_token).is_some_and(|token| !token.is_empty());
        let from = source.refresh.filter(|_| has_refresh).unwrap_or(source.ask);
        if let Err(unfilled) = self.send(strand, from, None) {
            state.busy.store(false, Ordering::Release);
            return Err(unfilled);
        }
        self.state.strand(strand).exchange = Exchange::Token;
        self.wait(strand, pc, Wait::Answer);
        Ok(true)
    }

    /// Ends the request for a token of a strand that is not sent.
    pub fn drop_token(&mut self, strand: StrandId) {
        if self.state.strand(strand).exchange != Exchange::Token {
            return;
        }
        self.state.strand(strand).exchange = Exchange::Own;
        let number = self.ask_of(strand).and_then(|ask| match self.stage.asks[ask as usize].auth {
            Some(Auth::Token(number)) => Some(number),
            _ => None,
        });
        if let Some(number) = number {
            self.stage.tokens[usize::from(number)].busy.store(false, Ordering::Release);
        }
    }

    /// Keeps the time of a token that a response has brought.
    pub fn note_token(&mut self, ask: u32) {
        let sources = self.stage.script.tokens.iter().zip(&self.stage.tokens);
        for (source, state) in sources.filter(|(source, _)| source.ask == ask || source.refresh == Some(ask))
        {
            let seconds = self.whole_of(source.expires_in);
            let (end, due) = match seconds {
                Some(seconds) => {
                    let life_ns = seconds.saturating_mul(1_000_000_000);
                    // A token that lives shorter than twice the margin is renewed at half its life.
                    let early_ns = source.early_ns.min(life_ns / 2);
                    let end = self.at.unix_ns.saturating_add(life_ns);
                    (end, end.saturating_sub(early_ns))
                }
                None => (0, 0),
            };
            state.due_unix_ns.store(due, Ordering::Relaxed);
            state.end_unix_ns.store(end, Ordering::Relaxed);
        }
    }

    fn whole_of(&self, id: GlobalId) -> Option<u64> {
        let text = std::str::from_utf8(self.stage.globals.get(id)?).ok()?;
        text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0).map(|seconds| seconds as u64)
    }

    /// Handles the response with a token, and sends the request that waits for it.
    pub fn token_answered(&mut self, strand: StrandId, ask: u32, reply: &Reply<'_>) {
        let Some(Auth::Token(number)) = self.stage.asks[ask as usize].auth else { return };
        let (source, state) =
            (&self.stage.script.tokens[usize::from(number)], &self.stage.tokens[usize::from(number)]);
        let has_refresh = self.stage.globals.get(source.refresh_token).is_some_and(|token| !token.is_empty());
        let from = source.refresh.filter(|_| has_refresh).unwrap_or(source.ask);
        self.state.strand(strand).exchange = Exchange::Own;
        let fault = match reply.fault {
            Some(fault) => {
                self.tell_fault(from, fault, reply);
                Some(fault)
            }
            None => {
                let fault = self.judge(from, &answer_of(reply));
                if let Some(fault) = fault {
                    self.out.fail(fault);
                }
                fault
            }
        };
        if fault.is_some() {
            // The next try is a whole login: the server may have rejected the refresh token.
            self.stage.globals.set(source.refresh_token, b"");
            state.due_unix_ns.store(self.at.unix_ns.saturating_add(RETRY_NS), Ordering::Relaxed);
        }
        state.busy.store(false, Ordering::Release);
        // Without a new token, the old one is sent, and the server's response to it counts.
        self.send_own(strand, ask);
    }

    /// Sends the request of a step after another exchange, unless the iteration is ending.
    fn send_own(&mut self, strand: StrandId, ask: u32) {
        if self.state.mood != IterationState::Going {
            self.state.strand(strand).wait = Wait::Idle;
            return;
        }
        let pc = self.state.strand(strand).pc;
        if let Some(Op::Stream { .. } | Op::Connect { .. }) = self.stage.code.ops.get(pc as usize) {
            // The operation begins again.
            self.state.strand(strand).wait = Wait::Idle;
            return self.bench.ready.push(strand);
        }
        if let Err(unfilled) = self.send(strand, ask, None) {
            self.unfilled(strand, pc, &unfilled);
        }
    }

    /// Adds the rendered request that starts at `begin` in the outbox with its authentication.
    pub fn push_signed(
        &mut self,
        strand: StrandId,
        ask: u32,
        begin: usize,
        head_only: bool,
        to: OriginId,
    ) -> Result<(), Unfilled> {
        let stage = self.stage;
        match &stage.asks[ask as usize].auth {
            Some(Auth::Digest(login)) => {
                if !self.answer_challenge(strand, login, begin)? {
                    self.push(strand, ask, begin, head_only, to);
                    return self.ask_for_challenge(strand, login, begin);
                }
            }
            Some(Auth::SigV4(signature)) => self.sign(signature, begin)?,
            Some(Auth::Token(_)) | None => {}
        }
        self.push(strand, ask, begin, head_only, to);
        Ok(())
    }

    /// Turns the request that was added last into one without a body, whose response has a challenge. The whole request
    /// is kept, and is sent with the response to it.
    fn ask_for_challenge(
        &mut self,
        strand: StrandId,
        login: &DigestLogin,
        begin: usize,
    ) -> Result<(), Unfilled> {
        let head_bytes = {
            let mut fields = crate::ask::lines::lines(&self.out.arena[begin..]);
            fields.by_ref().for_each(drop);
            self.out.arena.len() - begin - fields.body().len()
        };
        if self.out.arena.len() > begin + head_bytes {
            self.out.arena.truncate(begin + head_bytes);
            set_header(&mut self.out.arena, begin, "Content-Length", b"0")?;
        }
        let end = self.out.arena.len() as u32;
        if let Some(step) = self.out.steps.last_mut() {
            step.request = login.challenge;
            step.body = BodyUse::HeadOnly;
            step.payload = plimsoll_plan::program::Payload::Rendered { begin: begin as u32, end };
        }
        self.state.strand(strand).exchange = Exchange::Challenge;
        Ok(())
    }

    /// Adds `Authorization` to a rendered request. Returns false if there is no challenge yet.
    fn answer_challenge(
        &mut self,
        strand: StrandId,
        login: &DigestLogin,
        begin: usize,
    ) -> Result<bool, Unfilled> {
        let known = |(of, _): &(u32, Challenge)| *of == login.challenge;
        if !self.state.strand(strand).trail.as_ref().is_some_and(|trail| trail.challenges.iter().any(known)) {
            return Ok(false);
        }
        let (user, password) = (self.filled(&login.user)?, self.filled(&login.password)?);
        let cnonce = format!("{:016x}", self.state.random.next_u64());
        let Some((method, uri)) = request_line(&self.out.arena[begin..]) else { return Ok(false) };
        let (method, uri) = (method.to_owned(), uri.to_owned());
        let trail = self.state.strand(strand).trail.get_or_insert_default();
        let Some((_, challenge)) = trail.challenges.iter_mut().find(|one| known(one)) else {
            return Ok(false);
        };
        let value = challenge.authorization((&user, &password), (&method, &uri), &cnonce);
        set_header(&mut self.out.arena, begin, "Authorization", value.as_bytes())?;
        Ok(true)
    }

    pub(super) fn filled(&mut self, text: &Text) -> Result<Vec<u8>, Unfilled> {
        let mut value = Vec::new();
        let (mut scope, _) = self.state.scope(self.stage, self.at.unix_ns);
        fill(text, &mut scope, &mut value)?;
        Ok(value)
    }

    pub(super) fn sign(&mut self, signature: &SigV4, begin: usize) -> Result<(), Unfilled> {
        let token = signature.session_token.as_ref().map(|token| self.filled(token)).transpose()?;
        let (access_key, secret_key) =
            (self.filled(&signature.access_key)?, self.filled(&signature.secret_key)?);
        let (region, service) = (self.filled(&signature.region)?, self.filled(&signature.service)?);
        let credentials = Credentials {
            access_key: &access_key,
            secret_key: &secret_key,
            session_token: token.as_deref(),
            region: &region,
            service: &service,
        };
        sigv4::sign(&mut self.out.arena, begin, &credentials, self.at.unix_ns)
    }

    /// Handles the response that should have a challenge.
    pub fn challenged(&mut self, strand: StrandId, ask: u32, reply: &Reply<'_>) {
        let Some(Auth::Digest(login)) = &self.stage.asks[ask as usize].auth else { return };
        if let Some(fault) = reply.fault {
            self.tell_fault(login.challenge, fault, reply);
            return self.failed(strand, ask, fault);
        }
        self.take_cookies(strand, ask, reply.head);
        let read = match reply.status {
            UNAUTHORIZED => Challenge::of(reply.head),
            other => Err(format!("expected status `401` with a challenge, found `{other}`")),
        };
        match read {
            Ok(challenge) => self.repeat_with(strand, ask, login, challenge, Exchange::Own),
            Err(why) => {
                self.out.fail(Fault::Status);
                self.tell_login(login.challenge, &why, reply);
                self.failed(strand, ask, Fault::Status);
            }
        }
    }

    /// Keeps a challenge, and sends the kept request with the response to it.
    fn repeat_with(
        &mut self,
        strand: StrandId,
        ask: u32,
        login: &DigestLogin,
        challenge: Challenge,
        exchange: Exchange,
    ) {
        if self.state.mood != IterationState::Going {
            self.state.strand(strand).wait = Wait::Idle;
            return;
        }
        let begin = self.out.arena.len();
        let waiting = self.state.strand(strand);
        let pc = waiting.pc;
        let trail = waiting.trail.get_or_insert_default();
        match trail.challenges.iter_mut().find(|(of, _)| *of == login.challenge) {
            Some((_, known)) => *known = challenge,
            None => trail.challenges.push((login.challenge, challenge)),
        }
        let to = trail.to;
        self.out.arena.extend_from_slice(&trail.sent);
        let head_only = self.out.arena[begin..].starts_with(b"HEAD ");
        match self.answer_challenge(strand, login, begin) {
            Ok(_) => {
                self.push(strand, ask, begin, head_only, to);
                self.state.strand(strand).exchange = exchange;
            }
            Err(unfilled) => {
                self.out.arena.truncate(begin);
                self.unfilled(strand, pc, &unfilled);
            }
        }
    }

    /// Sends a request once more if its response asks for it: with a new nonce, or with the query of GraphQL. The first
    /// exchange counts as a request of the same series, like a redirect.
    pub fn is_repeated(&mut self, strand: StrandId, ask: u32, reply: &Reply<'_>) -> bool {
        let stage = self.stage;
        let asking = &stage.asks[ask as usize];
        let is_first = self.state.strand(strand).exchange == Exchange::Own;
        if !is_first || self.state.mood != IterationState::Going {
            return false;
        }
        if let (Some(Auth::Digest(login)), UNAUTHORIZED) = (&asking.auth, reply.status)
            && let Ok(challenge) = Challenge::of(reply.head)
            && challenge.is_stale
        {
            self.repeat_with(strand, ask, login, challenge, Exchange::Repeated);
            return true;
        }
        let Some(form) = &asking.with_query else { return false };
        if !is_unknown_query(reply.body) {
            return false;
        }
        let begin = self.out.arena.len();
        let pc = self.state.strand(strand).pc;
        let (mut scope, jar) = self.state.scope(stage, self.at.unix_ns);
        match form.render(&mut scope, jar, &mut self.bench.fill, &mut self.out.arena) {
            Ok(()) => {
                let pushed = self.push_signed(strand, ask, begin, form.head_only(), form.origin().number());
                if let Err(unfilled) = pushed {
                    self.out.arena.truncate(begin);
                    self.unfilled(strand, pc, &unfilled);
                } else {
                    self.state.strand(strand).exchange = Exchange::Repeated;
                }
            }
            Err(unfilled) => self.unfilled(strand, pc, &unfilled),
        }
        true
    }
}

/// Returns whether a response says that the server does not know the hash of a query.
fn is_unknown_query(body: &[u8]) -> bool {
    let holds = |word: &[u8]| memchr::memmem::find(body, word).is_some();
    body.len() < 4_096 && (holds(b"PersistedQueryNotFound") || holds(b"PERSISTED_QUERY_NOT_FOUND"))
}
