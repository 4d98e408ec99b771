//! Between two steps: lets a service that was overloaded come back.

use super::level;
use crate::commands::load::{self, Shared};
use crate::commands::run;
use crate::exit::Failure;
use crate::flags::load::MannerFlags;
use crate::wall;
use plimsoll_front::Located;

/// Length of a look at the service, and the pause between two requests of it, ns: a service that turns away who asks
/// too often would never be seen to come back.
const GLANCE_NS: u64 = 350_000_000;
const GLANCE_PAUSE_NS: u64 = 100_000_000;
/// So many looks at most; behind them the next step shows what is the matter.
const GLANCES: u32 = 20;
/// Between two looks, ns.
const PAUSE_NS: u64 = 1_000_000_000;

/// Rests, and then waits until a single user is answered again without a failure.
///
/// # Errors
/// When nobody listens any more after all looks.
pub fn rest(rest_ns: u64, located: &Located, manner: &MannerFlags, shared: &Shared) -> Result<(), Failure> {
    if rest_ns == 0 {
        return Ok(());
    }
    wall::rest(rest_ns, &shared.interrupts);
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
