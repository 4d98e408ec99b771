//! The state that all users of a run share: code, forms, judges, files, and counters.

use super::call::StatusSeries;
use super::check::check;
use super::code::Code;
use super::file::Sink;
use super::login::TokenState;
use super::made_files;
use super::pick::Picker;
use super::redact;
use super::shape::Shapes;
use super::socket::subscription::Subscription;
use super::user::{Part, User};
use crate::answer::Judge;
use crate::ask::{Form, Origin, Site};
use crate::call::Encoder;
use crate::feed::Feeds;
use crate::value::{Counters, Globals};
use crate::watch::{Correlator, Ledger};
use plimsoll_plan::answer::{Check, Extract, Source, Statuses, Subject};
use plimsoll_plan::auth::Auth;
use plimsoll_plan::failure_example::EXAMPLES_MAX;
use plimsoll_plan::link::{Http, Reuse};
use plimsoll_plan::load::Share;
use plimsoll_plan::program::{
    Behavior, BodyUse, Phase, Program, ProgramFactory, Programs, RequestId, Unready, UserSlot,
};
use plimsoll_plan::script::{Ask, Delay, Entry, Script, TimingPart};
use plimsoll_plan::value::{GlobalId, VarId};
use plimsoll_plan::websocket::{Expectation, WebSocket};
use plimsoll_plan::{Fault, Plan, Problem, setup_values};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The state that all users of a run share.
pub struct Stage {
    pub(super) script: Arc<Script>,
    pub(super) code: Code,
    pub(super) asks: Box<[Asking]>,
    /// The requests that open WebSockets, by the numbers of these.
    pub(super) sockets: Box<[u32]>,
    /// The timeout of the plan, ns.
    pub(super) timeout_ns: u64,
    /// The origins, by number.
    pub(super) sites: Box<[Site]>,
    pub(super) origins: Box<[Origin]>,
    pub(super) globals: Arc<Globals>,
    pub(super) counters: Counters,
    pub(super) files: Vec<Sink>,
    pub(super) group_series: RequestId,
    /// Maximum size of a decoded body, in bytes.
    pub(super) body_bytes_max: usize,
    /// The entries of the workloads.
    pub(super) workloads: Vec<WorkloadEntry>,
    /// Secrets of the plan, and the slots of values with secret names.
    pub(super) secrets: Arc<[String]>,
    pub(super) secret_vars: Vec<VarId>,
    pub(super) secret_globals: Vec<GlobalId>,
    pub(super) fault_samples: [Quota; Fault::COUNT],
    pub(super) unfilled_samples: Quota,
    /// The state of each source of tokens.
    pub(super) tokens: Box<[TokenState]>,
    trouble: Mutex<Option<String>>,
    /// Whether setup, or teardown, has reached its end.
    through: AtomicBool,
    /// The data files that setup has opened, then those of the load, so that no file is read twice.
    feeds: Mutex<Option<Arc<Feeds>>>,
    seed: u64,
    share: Share,
}

/// The scenarios of a workload.
pub(super) struct WorkloadEntry {
    pub ways: Vec<u16>,
    /// `None` if there is only one.
    pub picker: Option<Picker>,
    /// Number of users of all earlier workloads, over all machines.
    pub users_before: u32,
}

/// A compiled request.
pub(super) struct Asking {
    pub form: Form,
    pub judge: Judge,
    pub ledger: Option<Ledger>,
    pub socket: Option<Box<SocketAsking>>,
    pub body: BodyUse,
    pub timeout_ns: u64,
    /// Whether a check or an extraction reads the message of a gRPC response.
    pub reads_message: bool,
    /// Whether a check or an extraction at the end of a gRPC stream reads the head of its response.
    pub keeps_head: bool,
    /// Whether the sent bytes are needed again, for redirects or for the path of a cookie.
    pub follows: bool,
    /// The series of the first check; the others follow.
    pub checks: RequestId,
    /// By check, then by extraction.
    pub check_samples: Box<[Quota]>,
    pub status_samples: Quota,
    pub shapes: Shapes,
    /// How it authenticates itself, if a fixed header is not enough.
    pub auth: Option<Auth>,
    /// The same request of GraphQL with its query, for a server that does not know the hash.
    pub with_query: Option<Box<Form>>,
    /// Whether errors in an event end its stream as a failure.
    pub fails_on_graphql_errors: bool,
    /// The times of its responses that texts use, with the slots of the user.
    pub timings: Box<[(usize, TimingPart)]>,
}

/// A compiled WebSocket.
pub(super) struct SocketAsking {
    /// Its number among those of the script.
    pub number: u16,
    pub ledger: Ledger,
    pub correlation: Option<Correlator>,
    /// What expected messages must be.
    pub expectations: Box<[Judge]>,
    /// The number of messages that are sent with a gRPC call, and those that steps send.
    pub first_messages: u64,
    pub messages: Box<[Encoder]>,
    /// Whether anything reads the messages of a gRPC call.
    pub reads_messages: bool,
    /// The operation of GraphQL that it is opened for.
    pub subscription: Option<Box<Subscription>>,
}

/// The number of failure examples of one kind, over all workers.
#[derive(Debug, Default)]
pub(super) struct Quota(AtomicU32);

impl Quota {
    /// Returns whether another example is needed. This is cheap, because every response calls it.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) < EXAMPLES_MAX
    }

    /// Returns whether there are examples, and more are needed.
    pub fn is_begun(&self) -> bool {
        (1..EXAMPLES_MAX).contains(&self.0.load(Ordering::Relaxed))
    }

    pub fn take(&self) -> bool {
        self.is_open() && self.0.fetch_add(1, Ordering::Relaxed) < EXAMPLES_MAX
    }
}

impl Stage {
    /// Compiles the script of a plan. It writes no files yet.
    ///
    /// # Errors
    /// Returns an error for the first invalid index or pattern, or for a file that cannot be written.
    pub fn new(plan: &Plan) -> Result<Arc<Stage>, Problem> {
        let outline = &plan.outline;
        let script = plan.script.clone().ok_or_else(|| Problem::plain("the plan has no script"))?;
        check(&script, outline, &plan.entries).map_err(Problem::plain)?;
        let all_origins = outline.all_origins();
        let sites: Box<[Site]> = (0..)
            .zip(all_origins.iter())
            .map(|(number, origin)| Site {
                number,
                host: origin.authority(),
                tls: origin.tls.is_some(),
                http10: outline.link.http == Http::V10,
                close: outline.link.reuse == Reuse::Request,
                user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")),
            })
            .collect();
        let mut asks = Vec::with_capacity(script.asks.len());
        let mut checks = outline.check_series(0);
        let code = Code::compile(&script).map_err(Problem::plain)?;
        let mut sockets = Vec::new();
        for (number, ask) in (0..).zip(&script.asks) {
            let socket = sockets.len() as u16;
            sockets.extend(ask.websocket.is_some().then_some(number));
            let asking = match sites.get(usize::from(ask.origin)) {
                Some(site) => Asking::compile(ask, site, script.cookies, (checks, socket)),
                None => Err(format!("unknown origin {}", ask.origin)),
            };
            let mut asking = asking.map_err(|e| Problem::plain(format!("`{}`: {e}", ask.name)))?;
            let timings = (usize::from(code.slots)..).zip(&script.timings);
            asking.timings =
                timings.filter(|(_, of)| of.ask == number).map(|(slot, of)| (slot, of.part)).collect();
            asking
                .special(number, ask, &script, sites.get(usize::from(ask.origin)))
                .map_err(|e| Problem::plain(format!("`{}`: {e}", ask.name)))?;
            checks += asking.check_samples.len() as u32;
            asks.push(asking);
        }
        let named = |names: &[String]| -> Vec<u16> {
            let secret = names.iter().enumerate().filter(|(_, name)| redact::is_secret(name));
            secret.map(|(slot, _)| slot as u16).collect()
        };
        Ok(Arc::new(Stage {
            code,
            asks: asks.into(),
            sockets: sockets.into(),
            timeout_ns: outline.timeout_ns,
            origins: sites.iter().map(Origin::new).collect(),
            sites,
            globals: Globals::new(script.globals.len()),
            counters: Counters::new(),
            files: script.files.iter().map(Sink::new).collect::<Result<_, _>>()?,
            group_series: outline.group_series(0),
            body_bytes_max: outline.limits.kept_body_bytes as usize,
            workloads: workloads(plan).map_err(Problem::plain)?,
            secrets: redact::forms_of(redact::secrets_of(&script).iter().map(String::as_str)).into(),
            secret_vars: named(&script.vars),
            secret_globals: named(&script.globals),
            fault_samples: std::array::from_fn(|_| Quota::default()),
            unfilled_samples: Quota::default(),
            tokens: script.tokens.iter().map(|_| TokenState::default()).collect(),
            trouble: Mutex::new(None),
            through: AtomicBool::new(false),
            feeds: Mutex::new(None),
            seed: outline.seed,
            share: outline.share,
            script,
        }))
    }

    pub(super) fn note_through(&self) {
        self.through.store(true, Ordering::Relaxed);
    }

    /// Records an error. Only the first one counts, because others follow from it.
    pub(super) fn note_trouble(&self, sentence: impl FnOnce() -> String) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(sentence);
    }

    fn flush(&self) -> Result<(), Problem> {
        // Flushes all files, even after an error.
        let results: Vec<_> = self.files.iter().map(Sink::flush).collect();
        results.into_iter().collect()
    }
}

impl Behavior for Stage {
    fn check_data(&self) -> Result<(), Unready> {
        Feeds::open_ready(&self.script.feeders, self.seed, self.share).map(drop)
    }

    fn has(&self, phase: Phase) -> bool {
        match phase {
            Phase::Setup => !self.script.setup.is_empty(),
            Phase::Load => !self.script.scenarios.is_empty(),
            Phase::Teardown => !self.script.teardown.is_empty(),
        }
    }

    fn factory(self: Arc<Self>, phase: Phase) -> Result<Arc<dyn ProgramFactory>, Unready> {
        self.files.iter().try_for_each(Sink::open).map_err(Unready::File)?;
        self.flush().map_err(Unready::File)?;
        let feeders = &self.script.feeders;
        let mut opened = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let feeds = match (phase, &*opened) {
            // Files that a failed setup did not write must not stop teardown.
            (Phase::Teardown, Some(before)) => Arc::clone(before),
            (Phase::Setup | Phase::Teardown, _) => {
                Arc::new(Feeds::open_ready(feeders, self.seed, self.share)?)
            }
            (Phase::Load, Some(before)) => Arc::new(before.open_rest(feeders, self.seed, self.share)?),
            (Phase::Load, None) => Arc::new(Feeds::open(feeders, self.seed, self.share)?),
        };
        *opened = Some(Arc::clone(&feeds));
        if phase != Phase::Load {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.through.store(false, Ordering::Relaxed);
        }
        drop(opened);
        Ok(Arc::new(Cast { stage: self, feeds, phase }))
    }

    fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_through(&self) -> bool {
        self.through.load(Ordering::Relaxed)
    }

    fn missing_globals(&self) -> Vec<String> {
        let names = self.script.globals.iter().enumerate();
        names.filter(|(id, _)| self.globals.get(*id as u16).is_none()).map(|(_, name)| name.clone()).collect()
    }

    fn shares_setup(&self) -> bool {
        true
    }

    fn setup_values(&self) -> Vec<u8> {
        // The load flushes them again, and fails with the same error.
        let _ = self.flush();
        let made = made_files::read(&self.script.feeders);
        let globals = (0..self.script.globals.len()).map(|id| self.globals.get(id as u16));
        setup_values::encode(globals.chain(made.iter().map(Option::as_deref)))
    }

    fn adopt_setup(&self, values: &[u8]) -> Result<(), Problem> {
        let (script, of_globals) = (&self.script, self.script.globals.len());
        let expected = of_globals + made_files::count(&script.feeders);
        let values = setup_values::decode(values).filter(|all| all.len() == expected);
        let mut values =
            values.ok_or_else(|| Problem::plain("the values of setup come from another script"))?;
        made_files::write(&script.feeders, &self.files, &values.split_off(of_globals))?;
        let mut pairs = (0..).zip(values).filter_map(|(id, value)| Some((id, value?)));
        let is_kept = pairs.all(|(id, value)| self.globals.set(id, value));
        is_kept.then_some(()).ok_or_else(|| Problem::plain("a value of setup was set too often"))
    }

    fn close(&self) -> Result<(), Problem> {
        self.flush()
    }
}

impl Asking {
    /// Adds what few requests have.
    fn special(
        &mut self,
        number: u32,
        ask: &Ask,
        script: &Script,
        site: Option<&Site>,
    ) -> Result<(), String> {
        self.auth = script.auths.iter().find(|(of, _)| *of == number).map(|(_, auth)| auth.clone());
        // The sent bytes are needed for a request that is repeated with a response to a challenge.
        self.follows |= matches!(self.auth, Some(Auth::Digest(_)));
        if let Some(graphql) = script.graphql.iter().find(|graphql| graphql.ask == number) {
            self.fails_on_graphql_errors = graphql.fails_on_errors;
            if let (Some(plan), Some(socket)) = (&graphql.subscription, &mut self.socket) {
                let compiled = Subscription::compile(plan, graphql.fails_on_errors)?;
                socket.subscription = Some(Box::new(compiled));
            }
            if let (Some(body), Some(site)) = (&graphql.with_query, site) {
                let whole = Ask { body: Some(body.clone()), ..ask.clone() };
                self.with_query = Some(Box::new(Form::compile(&whole, site)?));
                self.body = BodyUse::Keep;
            }
        }
        if self.follows && self.body == BodyUse::Discard {
            self.body = BodyUse::HeadOnly;
        }
        Ok(())
    }

    /// Compiles a request, with the series of its first check and the number of its WebSocket.
    fn compile(
        ask: &Ask,
        site: &Site,
        cookies: bool,
        (checks, socket): (RequestId, u16),
    ) -> Result<Asking, String> {
        let mut judge = Judge::compile(ask)?;
        if ask.websocket.is_some() && ask.grpc.is_none() && ask.expect.is_none() {
            judge.set_expected(Statuses(vec![(101, 101)]));
        }
        let follows = (cookies || ask.redirects > 0) && ask.grpc.is_none();
        let body = match (judge.body_use(), ask.stream.is_some()) {
            _ if ask.websocket.is_some() && ask.grpc.is_some() => BodyUse::Duplex,
            _ if ask.websocket.is_some() => BodyUse::WebSocket,
            (_, true) => BodyUse::Stream,
            // The head and the trailers have the status, and the body has the message.
            _ if ask.grpc.is_some() => BodyUse::Keep,
            (BodyUse::Discard, _) if follows => BodyUse::HeadOnly,
            (wanted, _) => wanted,
        };
        Ok(Asking {
            form: Form::compile(ask, site)?,
            reads_message: judge.body_use() == BodyUse::Keep,
            keeps_head: ask.grpc.is_some() && reads_head(ask),
            ledger: ask.stream.as_deref().map(Ledger::compile).transpose()?,
            judge,
            body,
            timeout_ns: ask.timeout_ns.unwrap_or(0),
            follows,
            checks,
            check_samples: (0..ask.check_count()).map(|_| Quota::default()).collect(),
            socket: match &ask.websocket {
                Some(plan) => Some(Box::new(SocketAsking::compile(ask, plan, socket)?)),
                None => None,
            },
            status_samples: Quota::default(),
            shapes: Shapes::default(),
            timings: Box::default(),
            auth: None,
            with_query: None,
            fails_on_graphql_errors: false,
        })
    }
}

/// Returns whether a check or an extraction reads fields of the head.
fn reads_head(ask: &Ask) -> bool {
    let checked = |check: &Check| matches!(check.on, Subject::Header { .. } | Subject::HeaderSnapshot(_));
    let extracted = |extract: &Extract| matches!(extract.from, Source::Header(_) | Source::Cookie(_));
    ask.checks.iter().any(checked) || ask.extracts.iter().any(extracted)
}

impl SocketAsking {
    fn compile(ask: &Ask, plan: &WebSocket, number: u16) -> Result<SocketAsking, String> {
        let judge = |wanted: &Expectation| {
            // A message has no status, and is what a check of a body sees.
            let message = Ask {
                name: format!("{}, {}", ask.name, wanted.name),
                expect: None,
                checks: wanted.checks.clone(),
                extracts: wanted.extracts.clone(),
                ..ask.clone()
            };
            Judge::compile(&message)
        };
        let ledger = Ledger::compile(&plan.stream)?;
        let (first_messages, messages) = match &ask.grpc {
            None => (0, Box::default()),
            Some(call) => {
                let later = call.later.iter().map(|message| Encoder::later(message, call));
                (call.messages.len() as u64 * u64::from(call.rounds), later.collect::<Result<_, _>>()?)
            }
        };
        Ok(SocketAsking {
            number,
            reads_messages: ledger.reads_data()
                || plan.correlation.is_some()
                || !plan.expectations.is_empty(),
            ledger,
            correlation: plan.correlation.as_ref().map(Correlator::compile).transpose()?,
            expectations: plan.expectations.iter().map(judge).collect::<Result<_, _>>()?,
            first_messages,
            messages,
            subscription: None,
        })
    }
}

fn workloads(plan: &Plan) -> Result<Vec<WorkloadEntry>, String> {
    let outline = &plan.outline;
    let mut users_before = 0u32;
    let mut workloads = Vec::with_capacity(plan.entries.len());
    for (number, entry) in plan.entries.iter().enumerate() {
        let (ways, picker) = match entry {
            Entry::Scenario(scenario) => (vec![*scenario], None),
            Entry::Mix { ways, order } => {
                let weights: Vec<f64> = ways.iter().map(|(_, weight)| *weight).collect();
                (ways.iter().map(|(scenario, _)| *scenario).collect(), Some(Picker::new(&weights, *order)?))
            }
        };
        workloads.push(WorkloadEntry { ways, picker, users_before });
        if let Some(workload) = outline.workloads.get(number) {
            // In the open model, each machine has its own users.
            let machines = if workload.load.is_open() { outline.share.of.max(1) } else { 1 };
            users_before = users_before.saturating_add(workload.connections.saturating_mul(machines));
        }
    }
    Ok(workloads)
}

/// The factory of the users of one phase.
#[derive(Clone)]
struct Cast {
    stage: Arc<Stage>,
    feeds: Arc<Feeds>,
    phase: Phase,
}

impl ProgramFactory for Cast {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(Company { cast: self.clone(), series: Rc::default() })
    }
}

/// The maker of one worker's users, with what they share.
struct Company {
    cast: Cast,
    series: Rc<StatusSeries>,
}

impl Programs for Company {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program> {
        let Cast { stage, feeds, phase } = &self.cast;
        let part = match phase {
            Phase::Setup => Part::Setup,
            Phase::Teardown => Part::Teardown,
            Phase::Load => Part::Workload(slot.workload),
        };
        let series = Rc::clone(&self.series);
        Box::new(User::new(Arc::clone(stage), series, feeds, part, slot, stage.seed))
    }
}

impl Stage {
    /// Returns the minimum time between the starts of two iterations of a scenario.
    pub(super) fn pace(&self, scenario: u16) -> Option<&Delay> {
        self.script.scenarios.get(usize::from(scenario))?.pace.as_ref()
    }
}
