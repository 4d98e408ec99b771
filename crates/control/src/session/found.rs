//! Origins that programs ask for while the engine runs. Each is subject to the same steps as those of the plan before
//! the load, without a prompt and without a wait: resolved, checked for permission, tried, and agreed with. One set of
//! origins serves setup, load, and teardown.

mod redis;
mod unreachable;

use super::Failed;
use super::ways::{self, Permission, Way};
use crate::dns;
use plimsoll_engine::clock;
use plimsoll_engine::origins::{FoundOrigin, OriginAnswer, OriginFinder};
use plimsoll_plan::link::{Http, TlsFiles};
use plimsoll_plan::origin::{ORIGINS_MAX, OriginId};
use plimsoll_plan::program::{OriginQuery, Unreachable};
use plimsoll_plan::redis::{RedisCommand, RedisQuery};
use plimsoll_plan::route::Route;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Fault, Plan, Target, origin};
use plimsoll_record::event::{OriginOpened, WayThere};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Most threads; each tries one origin.
const THREADS_MAX: usize = 16;
/// How long a failure is the answer for other programs: a dead host must not be tried thousands of times per second.
const FAILED_NS: u64 = SECOND_NS;
/// Most failures that are remembered.
const FAILED_MAX: usize = 4_096;

/// The number of an origin in questions about requests of the plan: it has none of them.
const NO_NUMBER: OriginId = OriginId::MAX;

/// The origins of one session.
pub struct Origins {
    shared: Arc<Shared>,
}

struct Shared {
    plan: Plan,
    /// Hosts and addresses that may be loaded.
    allow: Vec<String>,
    today: String,
    /// Addresses of this machine.
    own: Vec<IpAddr>,
    /// Number of origins of the plan.
    fixed: usize,
    state: Mutex<State>,
    /// Started when a program first sends a command.
    redis: OnceLock<Result<redis::Redis, String>>,
}

#[derive(Default)]
struct State {
    found: Vec<(Arc<FoundOrigin>, WayThere)>,
    numbers: HashMap<OriginQuery, OriginId>,
    /// The workers that wait for an origin.
    waiting: HashMap<OriginQuery, Vec<OriginAnswer>>,
    queue: VecDeque<OriginQuery>,
    /// With the time until which it is the answer.
    failed: HashMap<OriginQuery, (u64, Unreachable)>,
    threads: usize,
}

/// A search for an origin that a thread makes.
enum Begun {
    /// The answer is known.
    Answered(OriginAnswer, Result<OriginId, Unreachable>),
    /// A thread answers.
    Waiting,
}

impl Origins {
    /// Creates the set for a plan with its protocols, whose origins have `ways`. `allow` names what may be loaded.
    pub fn new(plan: &Plan, ways: &[Way], allow: &[String], today: String) -> Origins {
        // A host that the user has typed is allowed on all its ports.
        let confirmed = ways.iter().filter(|way| way.is_host_allowed).map(|way| way.origin.host.clone());
        let shared = Shared {
            plan: plan.clone(),
            allow: allow.iter().cloned().chain(confirmed).collect(),
            today,
            own: plimsoll_engine::machine::local_addresses(),
            fixed: ways.len(),
            state: Mutex::default(),
            redis: OnceLock::new(),
        };
        Origins { shared: Arc::new(shared) }
    }

    /// Returns the finder for the engine.
    pub fn finder(&self) -> Arc<dyn OriginFinder> {
        Arc::new(Finder(Arc::clone(&self.shared)))
    }

    /// Returns the origins beyond the first `known` that were found.
    pub fn opened(&self, known: usize) -> Vec<OriginOpened> {
        let state = self.shared.state();
        let opened = |(found, way): &(Arc<FoundOrigin>, WayThere)| OriginOpened {
            number: found.number,
            origin: found.origin.clone(),
            way: way.clone(),
        };
        state.found.iter().skip(known).map(opened).collect()
    }

    /// Returns the first reason why the keys of TLS could not be written.
    pub fn key_log_trouble(&self) -> Option<String> {
        let state = self.shared.state();
        state.found.iter().find_map(|(found, _)| found.place.tls.as_ref()?.key_log_trouble())
    }
}

/// The threads end with the session. They are not waited for: a host may take many seconds to time out.
impl Drop for Origins {
    fn drop(&mut self) {
        self.shared.state().queue.clear();
    }
}

struct Finder(Arc<Shared>);

impl OriginFinder for Finder {
    fn find(&self, query: &OriginQuery, answer: OriginAnswer) {
        if let Some(RedisQuery(command)) = &query.redis {
            return self.0.send_command(command, answer);
        }
        // Sent after the lock is released.
        if let Begun::Answered(answer, result) = self.0.begin(query, answer) {
            answer.send(result);
        }
    }

    fn found(&self, from: usize) -> Vec<Arc<FoundOrigin>> {
        let state = self.0.state();
        let later = state.found.iter().filter(|(found, _)| usize::from(found.number) >= from);
        later.map(|(found, _)| Arc::clone(found)).collect()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete before the lock is released, also if a thread panics elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: &Arc<Self>, query: &OriginQuery, answer: OriginAnswer) -> Begun {
        let now_ns = clock::now_ns();
        let mut state = self.state();
        if let Some(number) = state.numbers.get(query) {
            let number = *number;
            return Begun::Answered(answer, Ok(number));
        }
        if let Some((until_ns, why)) = state.failed.get(query)
            && now_ns < *until_ns
        {
            let why = why.clone();
            return Begun::Answered(answer, Err(why));
        }
        if let Some(waiting) = state.waiting.get_mut(query) {
            waiting.push(answer);
            return Begun::Waiting;
        }
        if let Err(full) = self.check_room(&state) {
            return Begun::Answered(answer, Err(full));
        }
        if state.threads < THREADS_MAX {
            let shared = Arc::clone(self);
            let thread = std::thread::Builder::new().name("origin".into()).spawn(move || shared.serve());
            match thread {
                Ok(_) => state.threads += 1,
                // If the kernel allows no more threads, the others serve it.
                Err(_) if state.threads > 0 => {}
                Err(error) => {
                    let sentence = format!("the load generator could not start a thread ({error})").into();
                    return Begun::Answered(
                        answer,
                        Err(Unreachable { fault: Fault::ClientSendRefused, sentence }),
                    );
                }
            }
        }
        state.waiting.insert(query.clone(), vec![answer]);
        state.queue.push_back(query.clone());
        Begun::Waiting
    }

    /// Tries origins until none waits.
    fn serve(&self) {
        loop {
            let query = {
                let mut state = self.state();
                match state.queue.pop_front() {
                    Some(query) => query,
                    None => {
                        state.threads -= 1;
                        return;
                    }
                }
            };
            // A bug must not let programs wait until the end of the run.
            let way = catch_unwind(AssertUnwindSafe(|| self.way_to(&query)));
            let way = way.unwrap_or_else(|_| {
                Err(unreachable::of(&Failed::CutShort("the search for an origin panicked".into())))
            });
            let (waiting, result) = self.take(&query, way);
            waiting.into_iter().for_each(|answer| answer.send(result.clone()));
        }
    }

    /// Passes a command to the thread of Redis clients.
    fn send_command(self: &Arc<Self>, command: &Arc<RedisCommand>, answer: OriginAnswer) {
        let started =
            self.redis.get_or_init(|| redis::Redis::start(Arc::downgrade(self)).map_err(|e| e.to_string()));
        match started {
            Ok(redis) => redis.send(Arc::clone(command), answer),
            Err(why) => {
                let sentence = format!("the load generator could not start a thread ({why})").into();
                answer.send(Err(Unreachable { fault: Fault::ClientSendRefused, sentence }));
            }
        }
    }

    /// Does what is done before the load for the origins of the plan.
    fn way_to(&self, query: &OriginQuery) -> Result<Way, Unreachable> {
        let plan = &*self.plan_for(query);
        let mut way = self.permitted_way(query, plan)?;
        ways::agree(NO_NUMBER, &mut way, plan).map_err(|error| unreachable::of(&error.into()))?;
        Ok(way)
    }

    /// Resolves an origin and checks the permission.
    fn permitted_way(&self, query: &OriginQuery, plan: &Plan) -> Result<Way, Unreachable> {
        let failed = |failed| unreachable::of(&failed);
        let link = &plan.outline.link;
        let resolve = |number, target: &Target| Ok(dns::resolve_with(number, target, link)?);
        let origin = origin::found(&query.target, plan.found_tls.as_ref());
        let mut way = ways::way_to(NO_NUMBER, origin, plan, &resolve).map_err(failed)?;
        let refusal = |address: &SocketAddr| plan.code.as_ref()?.refusal(address.ip());
        if let Some(sentence) = way.place.addresses.iter().find_map(refusal) {
            return Err(Unreachable { fault: Fault::InvalidRequest, sentence: sentence.into() });
        }
        let permission = Permission { allow: &self.allow, confirm: None, today: &self.today };
        ways::permitted_way(&mut way, plan, permission, &mut Vec::new()).map_err(failed)?;
        Ok(way)
    }

    /// Returns the plan with what a query asks for.
    fn plan_for(&self, query: &OriginQuery) -> Cow<'_, Plan> {
        let mut plan = Cow::Borrowed(&self.plan);
        if query.requires_http2 {
            let link = &mut plan.to_mut().outline.link;
            (link.http, link.is_pipelined) = (Http::V2, false);
        }
        if let Some(files) = &query.tls_files {
            plan.to_mut().tls_files = TlsFiles::clone(files);
        }
        plan
    }

    /// Returns the plan for connections that do not take its route: the proxies of a load speak HTTP.
    fn direct_plan(&self, query: &OriginQuery) -> Plan {
        let mut plan = self.plan_for(query).into_owned();
        plan.outline.link.route = Route::default();
        plan
    }

    /// Keeps the result of a search, and returns who waits for it.
    fn take(
        &self,
        query: &OriginQuery,
        way: Result<Way, Unreachable>,
    ) -> (Vec<OriginAnswer>, Result<OriginId, Unreachable>) {
        let mut state = self.state();
        let numbered = match way {
            Ok(way) => self.check_room(&state).map(|number| self.keep(&mut state, number, query, &way)),
            Err(why) => {
                // Permission does not come during a run, and the host should not be asked for it in each second.
                let until_ns = match why.fault {
                    Fault::OriginRefused | Fault::InvalidRequest => u64::MAX,
                    _ => clock::now_ns().saturating_add(FAILED_NS),
                };
                state.remember(query, until_ns, why.clone());
                Err(why)
            }
        };
        (state.waiting.remove(query).unwrap_or_default(), numbered)
    }

    fn keep(&self, state: &mut State, number: OriginId, query: &OriginQuery, way: &Way) -> OriginId {
        let place = ways::place_of(way, &self.plan.outline.link);
        let found = FoundOrigin { number, query: query.clone(), origin: way.origin.clone(), place };
        let there = crate::environment::way_there(way, &self.own);
        state.found.push((Arc::new(found), there));
        state.failed.remove(query);
        state.numbers.insert(query.clone(), number);
        number
    }

    /// Returns the number of the next origin, or why there is none.
    fn check_room(&self, state: &State) -> Result<OriginId, Unreachable> {
        let number = self.fixed + state.found.len();
        let sentence = || format!("the run has {ORIGINS_MAX} origins already, which is the limit").into();
        let full = || Unreachable { fault: Fault::OriginRefused, sentence: sentence() };
        OriginId::try_from(number).ok().filter(|_| number < ORIGINS_MAX).ok_or_else(full)
    }
}

impl State {
    fn remember(&mut self, query: &OriginQuery, until_ns: u64, why: Unreachable) {
        if self.failed.len() >= FAILED_MAX {
            let now_ns = clock::now_ns();
            self.failed.retain(|_, (until_ns, _)| now_ns < *until_ns);
        }
        if self.failed.len() >= FAILED_MAX {
            self.failed.clear();
        }
        self.failed.insert(query.clone(), (until_ns, why));
    }
}
