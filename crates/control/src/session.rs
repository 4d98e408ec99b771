//! One run, from a sealed plan to its record: everything that can be known to be wrong is said before anything is
//! sent; then the set-up, the load, and what tidies up behind it.
//!
//! A session prints nothing, asks nobody and handles no signals: its [`SessionHost`] does.

mod ready;
mod setup_teardown;
mod ways;

use crate::permission::Refusal;
use crate::{Error, Options, RunController, environment, monitor};
use plimsoll_engine::{Place, Scene};
use plimsoll_plan::program::{Behaviour, Phase, Unready};
use plimsoll_plan::{Outline, Plan, Problem};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{Opening, Sink};
use plimsoll_record::record::Gatherer;
use plimsoll_record::run_file::{self, Finished, RunFile};
use ready::Patience;
use setup_teardown::SetupTeardown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use ways::Way;

/// What a session is to do besides its plan.
#[derive(Debug, Clone, Copy)]
pub struct Orders<'a> {
    /// Of the program, for the record.
    pub version: &'a str,
    /// Public hosts that may be loaded.
    pub allow: &'a [String],
    /// Somebody may be asked whether a public host may be loaded.
    pub may_ask: bool,
    /// How long the service may take until it answers, ns; 0: it is not waited for.
    pub wait_ns: u64,
    /// Another process started this one, so that signals may be blocked, and must be taken at once.
    pub is_child: bool,
    pub options: Options,
}

/// What a session has to say while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// The host permits the load in its ownership file.
    Permitted {
        host: &'a str,
    },
    /// The service is waited for.
    Waiting {
        target: &'a str,
    },
    /// It has answered.
    Ready,
    Setup,
}

/// What went wrong and does not take back what was measured.
#[derive(Debug)]
pub enum AfterRunError {
    /// The run file did not take the run; where the run is instead.
    RunFile(run_file::Error, Option<PathBuf>),
    TearDown(Failed),
    /// What was written on the side could not be handed over.
    Behaviour(Problem),
}

/// Why there was no load, or no record of it.
#[derive(Debug)]
pub enum Failed {
    Refused(Refusal),
    CouldNotRun(Error),
    RunFile(run_file::Error),
    /// A signal ended it before the load: a sentence.
    CutShort(String),
    /// The service was not ready in time.
    NotReady {
        target: String,
        within_ns: u64,
        why: Problem,
    },
    /// A monitor that this program was built without.
    NotBuilt {
        asked: &'static str,
        feature: &'static str,
    },
    /// The behaviour cannot be made.
    Behaviour(Problem),
    /// It is not ready for the load, or for what is around it.
    Unready(Unready),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::CouldNotRun(error)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Failed::Refused(refusal)
    }
}

impl From<run_file::Error> for Failed {
    fn from(error: run_file::Error) -> Self {
        Failed::RunFile(error)
    }
}

/// Makes the behaviour of a plan's users; `None` where the engine needs none.
pub type Behaviours = fn(&Plan) -> Result<Option<Arc<dyn Behaviour>>, Problem>;

/// What a session needs from the program that starts it: a terminal, a console, later an agent.
pub trait SessionHost {
    /// Of the place where the session is started: what a signal cannot be had for, no folder for the run.
    type Failure: From<Failed>;

    /// Since 1970.
    fn now_unix_ns(&self) -> u64;

    /// The date of an instant, `YYYY-MM-DD`, UTC.
    fn date(&self, unix_ns: u64) -> String;

    /// What no other run is called.
    ///
    /// # Errors
    /// When the machine has nothing random.
    fn origin(&self) -> Result<String, Self::Failure>;

    fn tell(&self, news: News<'_>);

    /// Something went wrong behind the load. Told as soon as it is known: the tear-down may hang.
    fn trouble(&self, trouble: AfterRunError);

    /// Puts a question to a person.
    fn confirm(&self, question: &str) -> String;

    /// From now on a signal ends the session, and not the program. Further calls change nothing.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn take_signals(&self) -> Result<(), Self::Failure>;

    /// A signal has come since they were taken.
    fn is_interrupted(&self) -> bool;

    /// Waits so long, or until a signal comes.
    fn rest(&self, ns: u64);

    /// Somebody may steer from now on; called when signals are taken.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn listen(&self, outline: &Outline) -> Result<(), Self::Failure>;

    /// A phase begins: signals and commands are for it.
    fn steer(&self, phase: Phase, controller: RunController);

    /// Where the run goes; `None`: it is not kept.
    ///
    /// # Errors
    /// When the place is taken or cannot be made.
    fn run_file(&self, host: &str, started_unix_ns: u64) -> Result<Option<PathBuf>, Self::Failure>;

    /// Writes a run that the file at `taken` could not take into another folder; `None`: none took it.
    fn second_run_file(
        &self,
        taken: &Path,
        host: &str,
        started_unix_ns: u64,
        record: &RunRecord,
    ) -> Option<PathBuf>;

    /// Who watches the load.
    fn view(&self) -> Option<Box<dyn Sink>>;
}

/// What a session left behind.
pub struct Ran {
    pub record: RunRecord,
    /// Where it is kept.
    pub run_file: Option<PathBuf>,
}

/// Runs the plan.
///
/// # Errors
/// When there was no load, or when the engine contradicted itself; the run file then holds what was counted.
pub fn run<D: SessionHost>(
    plan: &Plan,
    behaviours: Behaviours,
    orders: Orders<'_>,
    caller: &D,
) -> Result<Ran, D::Failure> {
    let outline = &plan.outline;
    check_built(plan)?;
    let behaviour = behaviours(plan).map_err(Failed::Behaviour)?;
    if orders.is_child {
        caller.take_signals()?;
    }
    let patience = Patience::new(orders.wait_ns, caller);
    let mut ways = ways::resolved(plan, &patience)?;
    let started_unix_ns = caller.now_unix_ns();
    ways::permitted(&mut ways, plan, &orders, caller, started_unix_ns)?;
    let mut run_file = caller.run_file(&outline.host, started_unix_ns)?;
    // A question for permission is ended by one signal, and so are the trials; only a wait has something to say.
    if patience.is_long() {
        caller.take_signals()?;
    }
    ways::reach(&mut ways, plan, &patience).map_err(|failed| instead_of(failed, caller))?;

    // The limit is raised by now, and no worker runs yet.
    // Connections are limited by origin.
    let connections = u64::from(outline.connections).saturating_mul(ways.len() as u64);
    plimsoll_engine::machine::reserve_descriptors(connections);
    caller.take_signals()?;
    caller.listen(outline)?;
    let places = ways
        .iter()
        .map(|way| Place { addresses: way.place.loaded(outline.link.addresses), tls: way.tls.clone() });
    let scene = Scene { places: places.collect(), factory: None };
    let asides = SetupTeardown { plan, scene: &scene, behaviour: behaviour.as_ref(), caller };
    asides.set_up().map_err(|failed| instead_of(failed, caller))?;
    let factory = behaviour.as_ref().map(|all| Arc::clone(all).factory(Phase::Load)).transpose();
    let loaded = Scene { factory: factory.map_err(Failed::Unready)?, ..scene.clone() };

    let environment = environment::environment(&ways, orders.version, outline.limits.descriptors);
    let opening =
        Opening { origin: caller.origin()?, outline: outline.clone(), environment, started_unix_ns };
    let mut gatherer = Gatherer::default();
    let mut writer = match &run_file {
        Some(path) => Some(RunFile::create(path, &opening).map_err(Failed::from)?),
        None => None,
    };
    let mut view = caller.view();
    let mut sinks: Vec<&mut dyn Sink> = match &mut writer {
        Some(writer) => vec![writer],
        None => vec![&mut gatherer],
    };
    if let Some(view) = &mut view {
        sinks.push(view.as_mut());
    }
    let steer = |controller| caller.steer(Phase::Load, controller);
    let ran = crate::run(Arc::new(plan.clone()), loaded, opening, orders.options, &mut sinks, steer);
    // Whatever the view has on the screen goes before anything else is said.
    drop(view);
    let mut finished = match writer {
        Some(writer) => writer.finish(),
        None => Finished { record: gatherer.into_record(), trouble: None },
    };
    if let Err(error) = ran {
        // Where nothing happened nothing is kept; that it cannot be removed would be the smaller trouble of the two.
        if let (Error::Engine(_), Some(path)) = (&error, &run_file) {
            let _ = std::fs::remove_file(path);
        }
        return Err(Failed::from(error).into());
    }
    if let (Some(trouble), Some(path)) = (finished.trouble.take(), &run_file) {
        let second = caller.second_run_file(path, &outline.host, started_unix_ns, &finished.record);
        if second.is_none() {
            // Without a record of its end it is as if the run had been cut off: it passes nothing.
            finished.record.generators.values_mut().for_each(|origin| origin.ending = None);
        }
        caller.trouble(AfterRunError::RunFile(trouble, second.clone()));
        run_file = second.or(run_file);
    }
    // The verdict stands whatever becomes of the tear-down, but nobody may believe that it came through.
    if let Err(failed) = asides.tear_down() {
        caller.trouble(AfterRunError::TearDown(failed));
    }
    if let Some(Err(problem)) = behaviour.as_ref().map(|behaviour| behaviour.close()) {
        caller.trouble(AfterRunError::Behaviour(problem));
    }
    Ok(Ran { record: finished.record, run_file })
}

/// Whether this program was built with all that the plan wants.
///
/// # Errors
/// [`Failed::NotBuilt`].
pub fn check_built(plan: &Plan) -> Result<(), Failed> {
    match plan.watches.iter().find_map(monitor::missing) {
        Some(feature) => Err(Failed::NotBuilt { asked: "monitor: postgres", feature }),
        None => Ok(()),
    }
}

/// Replaces a failure that follows a signal: the same signal may have ended the service as well.
fn instead_of(failed: Failed, caller: &impl SessionHost) -> Failed {
    match failed {
        Failed::CutShort(_) => failed,
        _ if caller.is_interrupted() => Failed::CutShort("interrupted before the load".into()),
        _ => failed,
    }
}
