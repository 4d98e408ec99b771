//! Pause between two steps that lets an overloaded service recover.

use super::level;
use crate::commands::load::{self, Shared};
use crate::commands::run;
use crate::exit::Failure;
use crate::flags::load::MannerFlags;
use crate::wall;
use plimsoll_front::Located;

/// Duration of one check of the service, and its pause between two requests, ns. Without the pause, a service that
/// limits rates would never seem to recover.
const GLANCE_NS: u64 = 350_000_000;
const GLANCE_PAUSE_NS: u64 = 100_000_000;
/// Maximum number of checks; after them, the next step shows the problem.
const GLANCES: u32 = 20;
/// Pause between two checks, ns.
const PAUSE_NS: u64 = 1_000_000_000;

/// Pauses, then waits until a single user gets responses without an error.
///
/// # Errors
/// Returns an error if nothing listens any more after all checks.
pub fn rest(rest_ns: u64, located: &Located, manner: &MannerFlags, shared: &Shared) -> Result<(), Failure> {
    if rest_ns == 0 {
        return Ok(());
    }
    wall::rest(rest_ns, &shared.interrupts);
    // The agents can reach the service, but perhaps not this machine.
    if manner.agents.selection.is_some() {
        return Ok(());
    }
    let quiet = MannerFlags { quiet: true, ..manner.clone() };
    let mut seen = Ok(());
    for _ in 0..GLANCES {
        if shared.interrupts.happened() {
            return Ok(());
        }
        let plan = run::settled(level::floor(located.clone(), GLANCE_NS, GLANCE_PAUSE_NS)?, true)?;
        match load::glance(plan, &quiet, shared) {
            Ok(summary) if summary.totals.errors == 0 && summary.totals.requests > 0 => return Ok(()),
            Ok(_) => seen = Ok(()),
            Err(failure) => seen = Err(failure),
        }
        wall::rest(PAUSE_NS, &shared.interrupts);
    }
    seen
}
