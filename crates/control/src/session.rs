//! One run, from a sealed plan to its record: reports every detectable problem before it sends anything, then runs
//! the setup, the load, and the teardown. A session prints nothing, asks nothing, and handles no signals; its
//! [`SessionHost`] does.

mod caller;
mod found;
mod ready;
mod reflection;
mod schemas;
mod setup_teardown;
mod team;
mod ways;

use crate::permission::Refusal;
use crate::run::{Company, run_with};
use crate::{Error, Options, RunController, environment, monitor};
use found::Origins;
use plimsoll_engine::Scene;
use plimsoll_plan::program::{Behavior, Phase, Unready};
use plimsoll_plan::{Outline, Plan, Problem};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{Opening, RunEvent, Sink};
use plimsoll_record::record::Gatherer;
use plimsoll_record::run_file::{self, Finished, RunFile};
use ready::Patience;
pub use reflection::Reflected;
pub use schemas::{Service, reflect};
use setup_teardown::SetupTeardown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use team::{Alone, Team};
pub use ways::Way;

/// Options of a session besides its plan.
#[derive(Debug, Clone, Copy)]
pub struct Orders<'a> {
    /// Version of the program, for the record.
    pub version: &'a str,
    /// Public hosts that may be loaded.
    pub allow: &'a [String],
    /// Whether the user can be asked for permission to load a public host.
    pub may_ask: bool,
    /// Maximum wait for the service to respond, ns; 0 means no wait.
    pub wait_ns: u64,
    /// Whether another process started this one. Then signals may be blocked and must be taken over immediately.
    pub is_child: bool,
    /// Whether to load origins that accept no connection, so that each request fails, instead of ending with an error.
    pub loads_unreachable: bool,
    pub options: Options,
}

/// News of a session in progress.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// The host's ownership file allows the load.
    Permitted {
        host: &'a str,
    },
    /// Waiting for the service.
    Waiting {
        target: &'a str,
    },
    /// The service has responded.
    Ready,
    Setup,
}

/// Problems after the run that do not invalidate its measurements.
#[derive(Debug)]
pub enum AfterRunError {
    /// The run file is incomplete; contains the path of the complete one, if any.
    RunFile(run_file::Error, Option<PathBuf>),
    TearDown(Failed),
    /// Keys of TLS could not be written; contains the system's message.
    KeyLog(String),
    /// Additional output files could not be completed.
    Behavior(Problem),
}

/// Why there was no load, or no record of it.
#[derive(Debug)]
pub enum Failed {
    Refused(Refusal),
    CouldNotRun(Error),
    RunFile(run_file::Error),
    /// A signal ended the session before the load: a sentence.
    CutShort(String),
    /// The service was not ready in time.
    NotReady {
        target: String,
        within_ns: u64,
        why: Problem,
    },
    /// A monitor that this build lacks.
    NotBuilt {
        asked: &'static str,
        feature: &'static str,
    },
    /// The behavior of the users cannot be compiled.
    Behavior(Problem),
    /// The behavior is not ready for the load, the setup, or the teardown.
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

/// Compiles the behavior of a plan's users; returns `None` if the engine needs none.
pub type Behaviors = fn(&Plan) -> Result<Option<Arc<dyn Behavior>>, Problem>;

/// What a session needs from the program that starts it, such as a terminal or a console.
pub trait SessionHost {
    /// Error of the program, such as unavailable signals or no folder for the run.
    type Failure: From<Failed>;

    /// Returns the time since 1970, ns.
    fn now_unix_ns(&self) -> u64;

    /// Returns the date of a time, `YYYY-MM-DD`, UTC.
    fn date(&self, unix_ns: u64) -> String;

    /// Returns a unique name for the run.
    ///
    /// # Errors
    /// Returns an error if the machine has no source of random numbers.
    fn origin(&self) -> Result<String, Self::Failure>;

    fn tell(&self, news: News<'_>);

    /// Reports a problem after the load immediately, because the teardown may hang.
    fn trouble(&self, trouble: AfterRunError);

    /// Asks the user a question.
    fn confirm(&self, question: &str) -> String;

    /// Makes signals end the session instead of the program. Further calls change nothing.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses.
    fn take_signals(&self) -> Result<(), Self::Failure>;

    /// Returns whether a signal has come since they were taken over.
    fn is_interrupted(&self) -> bool;

    /// Waits for a duration or until a signal.
    fn rest(&self, ns: u64);

    /// Starts to accept steering commands; called when signals are taken over. Further calls change nothing.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses.
    fn listen(&self, outline: &Outline) -> Result<(), Self::Failure>;

    /// Marks the start of a phase, to which signals and commands now apply.
    fn steer(&self, phase: Phase, controller: RunController);

    /// Returns the path of the run file, or `None` if the run is not saved.
    ///
    /// # Errors
    /// Returns an error if the path exists or cannot be created.
    fn run_file(&self, host: &str, started_unix_ns: u64) -> Result<Option<PathBuf>, Self::Failure>;

    /// Saves a run that the file at `taken` could not hold into another folder; returns `None` if all fail.
    fn second_run_file(
        &self,
        taken: &Path,
        host: &str,
        started_unix_ns: u64,
        record: &RunRecord,
    ) -> Option<PathBuf>;

    /// Returns the other load generators of the same load; [`Alone`] if there are none.
    fn team(&self) -> &dyn Team;

    /// Returns the live view of the load.
    fn view(&self) -> Option<Box<dyn Sink>>;
}

/// Result of a session.
pub struct Ran {
    pub record: RunRecord,
    /// Path of the saved run.
    pub run_file: Option<PathBuf>,
}

/// Runs the plan.
///
/// # Errors
/// Returns an error if there was no load, or if the engine contradicted itself; the run file then contains what was
/// counted.
pub fn run<D: SessionHost>(
    plan: &Plan,
    behaviors: Behaviors,
    orders: Orders<'_>,
    caller: &D,
) -> Result<Ran, D::Failure> {
    let outline = &plan.outline;
    check_built(plan)?;
    let behavior = behaviors(plan).map_err(Failed::Behavior)?;
    if orders.is_child {
        // The parent may stop it while it waits for the service.
        caller.take_signals()?;
        caller.listen(outline)?;
    }
    let patience = Patience::new(orders.wait_ns, caller);
    let mut ways = ways::resolved(plan, &patience)?;
    let started_unix_ns = caller.now_unix_ns();
    ways::permitted(&mut ways, plan, &orders, caller, started_unix_ns)?;
    let label = if outline.has_target() { outline.host.as_str() } else { "script" };
    let mut run_file = caller.run_file(label, started_unix_ns)?;
    // A single signal ends a permission question and the trials; only a wait needs handling.
    if patience.is_long() {
        caller.take_signals()?;
    }
    ways::reach(&mut ways, plan, &patience, orders.loads_unreachable)
        .map_err(|failed| instead_of(failed, caller))?;
    let plan = &ways::agreed(plan, &ways);
    let outline = &plan.outline;

    // The file limit is raised by now, and no worker runs yet. Connections are limited per origin.
    let connections = u64::from(outline.connections).saturating_mul(ways.len().max(1) as u64);
    plimsoll_engine::machine::reserve_descriptors(connections);
    caller.take_signals()?;
    caller.listen(outline)?;
    let origins = Origins::new(plan, &ways, orders.allow, caller.date(started_unix_ns));
    let places = ways.iter().map(|way| ways::place_of(way, &outline.link)).collect();
    let scene = Scene { places, factory: None, finder: Some(origins.finder()), gate: None };
    let asides = SetupTeardown { plan, scene: &scene, behavior: behavior.as_ref(), caller };
    asides.set_up().map_err(|failed| instead_of(failed, caller))?;
    let gate = caller.team().gate();
    let factory = behavior.as_ref().map(|all| Arc::clone(all).factory(Phase::Load)).transpose();
    let loaded = Scene { factory: factory.map_err(Failed::Unready)?, gate, ..scene.clone() };

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
    let mut here = Here { origins: &origins, told: 0, caller };
    let plan_of_load = Arc::new(plan.clone());
    let ran = run_with(plan_of_load, loaded, opening, orders.options, &mut sinks, steer, &mut here);
    // Clears the view before anything else is printed.
    drop(view);
    let mut finished = match writer {
        Some(writer) => writer.finish(),
        None => Finished { record: gatherer.into_record(), trouble: None },
    };
    if let Err(error) = ran {
        // Removes the file of a run in which nothing happened; failing to remove it does little harm.
        if let (Error::Engine(_), Some(path)) = (&error, &run_file) {
            let _ = std::fs::remove_file(path);
        }
        return Err(Failed::from(error).into());
    }
    if let (Some(trouble), Some(path)) = (finished.trouble.take(), &run_file) {
        let second = caller.second_run_file(path, label, started_unix_ns, &finished.record);
        if second.is_none() {
            // Without a record of its end, the run counts as cut off and cannot pass.
            finished.record.generators.values_mut().for_each(|origin| origin.ending = None);
        }
        caller.trouble(AfterRunError::RunFile(trouble, second.clone()));
        run_file = second.or(run_file);
    }
    let key_logs = ways.iter().filter_map(|way| way.tls.as_ref());
    let trouble = key_logs.filter_map(|setup| setup.key_log_trouble()).next();
    if let Some(why) = trouble.or_else(|| origins.key_log_trouble()) {
        caller.trouble(AfterRunError::KeyLog(why));
    }
    // The verdict does not depend on the teardown, but a failed teardown must be reported.
    if let Err(failed) = asides.tear_down() {
        caller.trouble(AfterRunError::TearDown(failed));
    }
    if let Some(Err(problem)) = behavior.as_ref().map(|behavior| behavior.close()) {
        caller.trouble(AfterRunError::Behavior(problem));
    }
    Ok(Ran { record: finished.record, run_file })
}

/// The part of a session in its run.
struct Here<'a, D> {
    origins: &'a Origins,
    /// Number of found origins that were announced: those that setup found, then those of the load.
    told: usize,
    caller: &'a D,
}

impl<D: SessionHost> Company for Here<'_, D> {
    fn news(&mut self) -> Vec<RunEvent> {
        let opened = self.origins.opened(self.told);
        self.told += opened.len();
        opened.into_iter().map(RunEvent::OriginOpened).collect()
    }

    fn begun(&mut self, begin_ns: u64) {
        self.caller.team().begun(begin_ns);
    }
}

/// Checks that this build has all features that the plan needs.
///
/// # Errors
/// Returns [`Failed::NotBuilt`].
pub fn check_built(plan: &Plan) -> Result<(), Failed> {
    match plan.watches.iter().find_map(monitor::missing) {
        Some(feature) => Err(Failed::NotBuilt { asked: "monitor: postgres", feature }),
        None => Ok(()),
    }
}

/// Replaces a failure after a signal, because the same signal may have stopped the service as well.
fn instead_of(failed: Failed, caller: &impl SessionHost) -> Failed {
    match failed {
        Failed::CutShort(_) => failed,
        _ if caller.is_interrupted() => Failed::CutShort("interrupted before the load".into()),
        _ => failed,
    }
}
