//! One run, from its first tick to its end: starts the engine, gathers reports, informs the sinks, and checks the
//! breaker and the thresholds.

use crate::breaker::{Breaker, Trip};
use crate::gather::Gather;
use crate::monitor::{Monitors, Trust};
use crate::watch::Watch;
use crate::{Error, RunController};
use plimsoll_engine::{Command, Next, Scene, Stopped};
use plimsoll_plan::Plan;
use plimsoll_record::event::{Ending, INTERRUPTED, Note, NoteKind, Opening, RunEvent, Sink, StoppedBy, Tick};
use std::sync::Arc;
use std::time::Duration;

/// Polling interval of the engine; nothing depends on its value.
const WAIT: Duration = Duration::from_millis(250);

/// Options of a run besides its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether the circuit breaker may stop a ramp that mostly fails.
    pub breaker: bool,
    /// Whether thresholds with `abort after` may stop the run. One of several load generators sees only its part.
    pub aborts: bool,
    /// Whether an interrupt is an ordinary end.
    pub stop_early_ok: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { breaker: true, aborts: true, stop_early_ok: false }
    }
}

/// Runs the plan on its scene and blocks until it has ended.
///
/// Every event goes to every sink, in order. `helm_out` receives the controller as soon as it exists; pass it to the
/// code that waits for signals.
///
/// # Errors
/// Returns an error if the engine cannot start, or if it contradicts itself. A report that cannot be counted makes
/// every total doubtful, so the load is stopped and no ending is sent. Everything else is part of the ending.
pub fn run(
    plan: Arc<Plan>,
    scene: Scene,
    opening: Opening,
    options: Options,
    sinks: &mut [&mut dyn Sink],
    helm_out: impl FnOnce(RunController),
) -> Result<Ending, Error> {
    run_with(plan, scene, opening, options, sinks, helm_out, &mut Alone)
}

/// What a session adds to a run.
pub(crate) trait Company {
    /// Returns events that precede the ticks with their numbers.
    fn news(&mut self) -> Vec<RunEvent>;

    /// Called once, after the load has begun at `begin_ns` of the engine's clock.
    fn begun(&mut self, begin_ns: u64);
}

/// A run without a session.
struct Alone;

impl Company for Alone {
    fn news(&mut self) -> Vec<RunEvent> {
        Vec::new()
    }

    fn begun(&mut self, _begin_ns: u64) {}
}

/// Does the same for a session.
///
/// # Errors
/// Returns an error under the conditions of [`run`].
pub(crate) fn run_with(
    plan: Arc<Plan>,
    scene: Scene,
    opening: Opening,
    options: Options,
    sinks: &mut [&mut dyn Sink],
    helm_out: impl FnOnce(RunController),
    company: &mut dyn Company,
) -> Result<Ending, Error> {
    let breaker = if options.breaker { Breaker::new(&plan.outline) } else { None };
    let watch = Watch::new(&plan.outline).filter(|_| options.aborts);
    let mut gather =
        Gather::new(plan.outline.workers, opening.series_count(), plan.outline.limits.open_series);
    let monitors = Monitors::of(&plan.watches, &Trust::of(&plan.watch_trust));
    let mut waiting = true;
    let outline = plan.outline.clone();
    let mut running = plimsoll_engine::start(plan, scene).map_err(Error::Engine)?;
    let controller = RunController::new(running.commander(), &outline);
    helm_out(controller.clone());
    let mut life = Life { sinks, breaker, watch, controller: &controller, aborted: false };
    life.tell(&RunEvent::Opened(Arc::new(opening)));
    for event in company.news() {
        life.tell(&event);
    }
    let mut contradiction = None;
    loop {
        if let Some(begin_ns) = running.begin_ns().filter(|_| std::mem::take(&mut waiting)) {
            monitors.begin(begin_ns);
            company.begun(begin_ns);
        }
        for event in monitors.take_events() {
            life.tell(&event);
        }
        life.steered(running.begin_ns());
        match running.next(WAIT) {
            Next::Report(report) => {
                if let Err(refused) =
                    gather.take(report.worker, &report.interval, &report.told.opened, report.last)
                    && contradiction.is_none()
                {
                    contradiction = Some(refused);
                    controller.command(Command::Stop);
                }
                running.give_back(report.worker, report.interval);
                if report.last {
                    // The run is ending and its last tick is cut short, so there is nothing left to stop.
                    life.watch = None;
                }
                for sample in report.told.samples {
                    life.tell(&RunEvent::FailureRecorded(sample));
                }
                // An origin is found before a request to it is counted.
                for event in company.news() {
                    life.tell(&event);
                }
                for opened in gather.opened() {
                    life.tell(&RunEvent::SeriesOpened(opened));
                }
                while let Some(tick) = gather.ready() {
                    life.tick(tick);
                }
            }
            Next::Quiet => {}
            Next::Ended => break,
        }
    }
    controller.let_go();
    life.steered(running.begin_ns());
    for event in monitors.end() {
        life.tell(&event);
    }
    for tick in gather.rest() {
        life.tick(tick);
    }
    let finish = running.finish();
    if let Some(refused) = contradiction {
        life.note(finish.elapsed_ns, refused.to_string());
        return Err(Error::Uncountable(refused));
    }
    let stopped_by = match finish.stopped {
        Stopped::Duration => StoppedBy::Duration,
        Stopped::Requests => StoppedBy::Requests,
        Stopped::Retired => StoppedBy::Retired,
        // An interrupt while the abort was in progress came second.
        Stopped::Command if life.aborted => StoppedBy::Threshold,
        Stopped::Command if controller.was_interrupted() && options.stop_early_ok => {
            StoppedBy::InterruptAllowed
        }
        Stopped::Command if controller.was_interrupted() => StoppedBy::Interrupt,
        Stopped::Command => StoppedBy::Command,
    };
    if matches!(stopped_by, StoppedBy::Interrupt | StoppedBy::InterruptAllowed) {
        life.note(finish.elapsed_ns, INTERRUPTED.into());
    }
    let ending = Ending { stopped_by, elapsed_ns: finish.elapsed_ns, lost_workers: finish.lost_workers };
    life.tell(&RunEvent::Ended(ending.clone()));
    Ok(ending)
}

/// Participants of a run besides the engine.
struct Life<'a, 'b> {
    sinks: &'a mut [&'b mut dyn Sink],
    breaker: Option<Breaker>,
    watch: Option<Watch>,
    controller: &'a RunController,
    /// Whether a threshold has stopped the run.
    aborted: bool,
}

impl Life<'_, '_> {
    fn tell(&mut self, event: &RunEvent) {
        for sink in self.sinks.iter_mut() {
            sink.event(event);
        }
    }

    fn note(&mut self, at_ns: u64, text: String) {
        self.tell(&RunEvent::Noted(Note { at_ns, kind: NoteKind::Control, text }));
    }

    /// Sends the notes and manual changes since the last call.
    fn steered(&mut self, begin_ns: Option<u64>) {
        for note in self.controller.notes(begin_ns) {
            self.tell(&RunEvent::Noted(note));
        }
    }

    fn tick(&mut self, tick: Tick) {
        // During a pause, missing responses are expected.
        let (mut broken, mut missed) = (None, None);
        if !self.controller.is_paused() {
            broken = self.breaker.as_mut().and_then(|breaker| breaker.tick(&tick));
            missed = self.watch.as_mut().and_then(|watch| watch.tick(&tick));
        }
        self.tell(&RunEvent::Ticked(tick));
        self.aborted |= missed.is_some();
        // A threshold that the user wrote is more informative than the breaker.
        if let Some(Trip { at_ns, sentence }) = missed.or(broken) {
            // Once is enough; ticks in progress must not stop the run again.
            (self.breaker, self.watch) = (None, None);
            self.note(at_ns, sentence);
            self.controller.command(Command::Stop);
        }
    }
}
