//! Setup and teardown: one user and one iteration before or after the load, excluded from its results.

use crate::{Error, RunController};
use plimsoll_engine::{Next, Scene, Stopped};
use plimsoll_plan::Plan;
use plimsoll_plan::load::{Load, Profile, Stop, Workload};
use plimsoll_plan::script::Entry;
use std::sync::Arc;
use std::time::Duration;

/// Polling interval of the engine; nothing depends on its value.
const WAIT: Duration = Duration::from_millis(250);

/// How a setup or teardown ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    Through,
    /// Interrupted by a signal.
    Interrupted,
}

/// Runs the program of `scene` once. The program itself knows what it sent and received.
///
/// # Errors
/// Returns an error if the engine cannot start.
pub fn aside(plan: &Plan, scene: Scene, helm_out: impl FnOnce(RunController)) -> Result<Aside, Error> {
    let mut running = plimsoll_engine::start(Arc::new(once(plan)), scene).map_err(Error::Engine)?;
    let controller = RunController::aside(running.commander());
    helm_out(controller.clone());
    loop {
        match running.next(WAIT) {
            Next::Report(report) => running.give_back(report.worker, report.interval),
            Next::Quiet => {}
            Next::Ended => break,
        }
    }
    let interrupted = running.finish().stopped == Stopped::Command && controller.was_interrupted();
    Ok(if interrupted { Aside::Interrupted } else { Aside::Through })
}

/// Returns the same plan for one user and one iteration.
fn once(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let load = Load::Closed { users: Profile::constant(1.0) };
    let outline = &mut plan.outline;
    outline.workloads = vec![Workload {
        name: String::new(),
        load: load.clone(),
        connections: 1,
        iterations: Some(1),
        loops: None,
        rules: Default::default(),
    }];
    outline.load = load;
    outline.stop = Stop::default();
    outline.share = Default::default();
    (outline.connections, outline.workers, outline.warmup_ns) = (1, 1, 0);
    plan.entries = vec![Entry::Scenario(0)];
    plan.recorded = Vec::new();
    plan
}
