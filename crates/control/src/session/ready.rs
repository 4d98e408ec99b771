//! Waits until the service responds before the load starts; a started container is not enough.

use super::caller::Caller;
use super::reflection;
use super::{Failed, News, SessionHost};
use crate::{Resolved, dns};
use plimsoll_engine::link::tls::{Setup, is_unknown_protocol};
use plimsoll_engine::probe;
use plimsoll_plan::link::{Http, Link};
use plimsoll_plan::origin::{FIRST, Origin, OriginId};
use plimsoll_plan::value::Part;
use plimsoll_plan::{Plan, Problem, Target};
use std::fmt::Display;
use std::time::Duration;

/// Pause between two attempts.
const PAUSE_NS: u64 = 100_000_000;
/// Maximum duration of one attempt, so that a host that drops packets is tried again.
const TRY: Duration = Duration::from_secs(1);

/// Maximum wait, and its start.
pub struct Patience<'a, D> {
    limit_ns: u64,
    begin_unix_ns: u64,
    caller: &'a D,
}

impl<'a, D: SessionHost> Patience<'a, D> {
    /// Creates a wait; `limit_ns` is 0 for none.
    pub fn new(limit_ns: u64, caller: &'a D) -> Self {
        Self { limit_ns, begin_unix_ns: caller.now_unix_ns(), caller }
    }

    /// Returns whether waiting is enabled.
    pub fn is_long(&self) -> bool {
        self.limit_ns > 0
    }

    pub fn is_over(&self) -> bool {
        let waited_ns = self.caller.now_unix_ns().saturating_sub(self.begin_unix_ns);
        waited_ns >= self.limit_ns || self.caller.is_interrupted()
    }

    /// Checks whether a signal has ended the wait.
    ///
    /// # Errors
    /// Returns an error if it has.
    fn check_interrupted(&self, target: &impl Display) -> Result<(), Failed> {
        if !self.caller.is_interrupted() {
            return Ok(());
        }
        Err(Failed::CutShort(format!("interrupted while waiting for `{target}`; no load was sent")))
    }
}

/// Returns the addresses of an origin, and looks up an unknown name repeatedly.
///
/// # Errors
/// Returns the last error when the time is over.
pub fn resolved<D: SessionHost>(
    origin: OriginId,
    target: &Target,
    link: &Link,
    patience: &Patience<'_, D>,
) -> Result<Resolved, Failed> {
    loop {
        match dns::resolve_with(origin, target, link) {
            Err(error) if patience.is_over() => {
                patience.check_interrupted(&target.host)?;
                return Err(error.into());
            }
            Err(_) => patience.caller.rest(PAUSE_NS),
            Ok(place) => return Ok(place),
        }
    }
}

/// Waits until one of the addresses responds to a GET with a status below 500, or is healthy if the plan asks for that.
///
/// # Errors
/// Returns an error when the time is over.
pub fn wait<D: SessionHost>(
    (number, origin): (OriginId, &Origin),
    place: &Resolved,
    plan: &Plan,
    tls: Option<&Setup>,
    patience: &Patience<'_, D>,
) -> Result<(), Failed> {
    // The health of the target decides, with or without a wait.
    let health = plan.health.as_deref().filter(|_| number == FIRST);
    if !patience.is_long() && health.is_none() {
        return Ok(());
    }
    let target = &origin.authority();
    if patience.is_long() {
        patience.caller.tell(News::Waiting { target });
    }
    let path = path(plan, number);
    let is_http2 = plan.outline.link.http == Http::V2;
    loop {
        let mut why = Problem::plain("");
        for address in &place.addresses {
            let tried = match health {
                Some(service) => Caller::open(place.peer(*address), tls, target, &[], TRY)
                    .and_then(|mut caller| reflection::check_health(&mut caller, service)),
                None => match probe::status(place.peer(*address), tls, is_http2, target, &path, TRY) {
                    Ok(status) if status >= 500 => Err(Problem::plain(format!("the response was {status}"))),
                    other => other.map(drop),
                },
            };
            match tried {
                Ok(()) => {
                    patience.caller.tell(News::Ready);
                    return Ok(());
                }
                // It responds, but not in the version that the plan asks for: waiting would not change that.
                Err(problem) if is_unknown_protocol(&problem) => return Ok(()),
                Err(problem) => why = problem,
            }
        }
        // A server without a health service does not get one with time.
        if patience.is_over() || health.is_some() && !why.hint.is_empty() {
            patience.check_interrupted(target)?;
            return Err(Failed::NotReady { target: target.clone(), within_ns: patience.limit_ns, why });
        }
        patience.caller.rest(PAUSE_NS);
    }
}

/// Returns the path of the first GET to an origin that has no variables, or else the root.
fn path(plan: &Plan, to: OriginId) -> String {
    let mut sent = plan.requests.iter().filter(|request| request.origin == to);
    let plain = sent.next().filter(|request| request.method == "GET");
    let asks = plan.script.iter().flat_map(|script| &script.asks).filter(|ask| ask.origin == to);
    let asked = asks.into_iter().find_map(|ask| match &ask.path.parts[..] {
        [Part::Literal(path)] if ask.scenario.is_some() && ask.method == "GET" => Some(path),
        _ => None,
    });
    match (plain, asked) {
        (Some(request), _) => request.path.clone(),
        (None, Some(path)) => String::from_utf8_lossy(path).into_owned(),
        (None, None) => "/".into(),
    }
}
