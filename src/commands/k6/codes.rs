//! Exit codes of k6.

use crate::exit::{Exit, Failure};
use plimsoll_js::{PhaseFailure, ScriptCode};
use plimsoll_plan::diag::Place;

/// Diagnostics of a script that cannot be loaded, for which k6 has its own code.
const OF_SCRIPTS: [&str; 6] = ["K001", "K002", "K006", "K007", "K011", "K013"];

/// Diagnostics of options.
const OF_OPTIONS: [&str; 6] = ["K101", "K102", "K103", "K104", "K105", "K106"];

/// Returns the code of a run that did not begin. What only plimsoll refuses keeps its code.
pub fn before(failure: &Failure) -> Exit {
    let Failure::Text(all) = failure else { return failure.exit() };
    let is_of = |codes: &[&str]| all.first().is_some_and(|first| codes.contains(&first.code));
    match () {
        () if is_of(&["K014"]) => Exit::K6Aborted,
        () if is_of(&OF_SCRIPTS) => Exit::K6Exception,
        () if is_of(&OF_OPTIONS) => Exit::K6Invalid,
        () if all.iter().any(|one| one.place == Place::Flag("--config".into())) => Exit::K6Invalid,
        () => failure.exit(),
    }
}

/// Returns the code of `setup()` or `teardown()` that failed.
pub fn of_phase(code: &ScriptCode) -> Option<Exit> {
    let shared = code.shared()?;
    if shared.aborted().is_some() {
        return Some(Exit::K6Aborted);
    }
    Some(match shared.phase_failure()? {
        PhaseFailure::Exception => Exit::K6Exception,
        PhaseFailure::SetupTimeout => Exit::K6SetupTimeout,
        PhaseFailure::TeardownTimeout => Exit::K6TeardownTimeout,
    })
}
